1 2.0 'tag|ns:2 a:3 b |x c
-1 | d e:-1
1 t|x
