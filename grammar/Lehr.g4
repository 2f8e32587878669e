// The grammar of Lehr: one model a file. Every choice is made on one token, so that the parser needs no
// prediction and an error is found, and worded, where it stands.
// Words that occur only where no name can stand (in, over, start, ...) stay usable as names.
grammar Lehr;

file : header declaration* '}' EOF ;
header : Model name '{' ;

declaration
  : constant
  | plate
  | dataset
  | definition
  | statement
  | potential
  | guide
  ;

// const K = 100;   const K;   const a0[topic];
constant : Const name axes? ('=' expression)? ';' ;

// plate doc;   plate token in doc times count;   plate topic = K;   plate t in seq ordered;   plate year from 1851;
plate : Plate name plateClause* ';' ;
plateClause : In name | Ordered | '=' expression | Times name | From Number ;

// data x[n] : vector over dim;   data P0 : matrix over dim, dim;   data site[n] : region;
dataset : Data name axes? ':' type ';' ;
type : name (Over names)? ;

// let f[n] = dot(w, x[n]) + b;
definition : Let name axes? '=' expression ';' ;

// observe w[doc, token] ~ Categorical(beta[z[doc, token]]);   s[t] ~ D(...) start D(...) over dim;
// observe y[n] ~ D(...) censored above c[n] below a;   u[n] ~ D(...) above lower[n] below upper[n];
statement : Observe? name axes? '~' distribution statementClause* ';' ;
statementClause : Start distribution | Over names | Censored? limit ;
limit : (Above | Below) expression ;
distribution : name arguments ;

// potential[e] J * s[a[e]] * s[b[e]];
potential : Potential axes? expression ';' ;

// guide joint(mu, Lambda);   guide factorised;
guide : Guide (guideKind '(' names ')' | Factorised) ';' ;
guideKind : Joint | Point | Independent | Order ;

// The plates of a declared name.
axes : '[' names ']' ;
names : name (',' name)* ;

expression : product (('+' | '-') product)* ;
product : factor (('*' | '/') factor)* ;

// A minus binds closer than `*`. A sum binds the rest of its product, so that `sum(f) a*b + c` is
// `(sum(f) a*b) + c`; it is a prefix here, and the body is gathered when the tree is built.
factor : prefix* primary ;
prefix : '-' | Sum '(' names ')' ;
primary
  : Number
  | name (arguments | '[' indices ']')?
  | '(' expression ')'
  ;
indices : expression (',' expression)* ;
arguments : '(' (argument (',' argument)*)? ')' ;

// `mean = 0` or a positional argument; left of '=' only a plain name is let through when the tree is built.
argument : expression ('=' expression)? ;

name
  : Identifier
  | In | Ordered | Times | From | Over | Start | Censored | Above | Below
  | Joint | Point | Independent | Order
  | Real | Count | Vector | Matrix | Simplex
  ;

Model : 'model' ;
Const : 'const' ;
Plate : 'plate' ;
Data : 'data' ;
Let : 'let' ;
Observe : 'observe' ;
Potential : 'potential' ;
Guide : 'guide' ;
Sum : 'sum' ;

In : 'in' ;
Ordered : 'ordered' ;
Times : 'times' ;
From : 'from' ;
Over : 'over' ;
Start : 'start' ;
Censored : 'censored' ;
Above : 'above' ;
Below : 'below' ;
Joint : 'joint' ;
Point : 'point' ;
Independent : 'independent' ;
Factorised : 'factorised' ;
Order : 'order' ;
Real : 'real' ;
Count : 'count' ;
Vector : 'vector' ;
Matrix : 'matrix' ;
Simplex : 'simplex' ;

LeftBrace : '{' ;
RightBrace : '}' ;
LeftParen : '(' ;
RightParen : ')' ;
LeftBracket : '[' ;
RightBracket : ']' ;
Semicolon : ';' ;
Comma : ',' ;
Colon : ':' ;
Equals : '=' ;
Tilde : '~' ;
Plus : '+' ;
Minus : '-' ;
Star : '*' ;
Slash : '/' ;

Number : (Digits ('.' [0-9]*)? | '.' Digits) ([eE] [+-]? Digits)? ;
fragment Digits : [0-9]+ ;

// Letters of any script, subscript digits (μ₀) too.
Identifier : [\p{L}_] [\p{L}\p{M}\p{Nd}_\u2080-\u2089]* ;

LineComment : '//' ~[\r\n]* -> channel(HIDDEN) ;
BlockComment : '/*' .*? '*/' -> channel(HIDDEN) ;
Space : [ \t\r\n\u00A0\uFEFF]+ -> skip ;

// The lexer never fails: what is left is a token that no rule accepts.
OpenComment : '/*' ;
Other : . ;
