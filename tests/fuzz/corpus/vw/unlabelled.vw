| a b
|x:1e23 a:1e23 b
'tag| c
