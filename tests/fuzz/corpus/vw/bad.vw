1 -1 | a
1 2 3 | a
1| a
no bar
1 | :2
1 |n:x a
