"""A Pygments lexer of the modelling language, as `pygmentize -l lehr` and the site of the documentation use it."""
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Text

# The keywords of grammar/Lehr.g4: those that begin a declaration, those within one, and the types of data.
DECLARATIONS = ("model", "const", "plate", "data", "let", "observe", "potential", "guide")
WITHIN = ("in", "ordered", "times", "from", "over", "start", "censored", "above", "below", "joint", "point", "independent", "order", "factorised", "sum")
TYPES = ("real", "count", "vector", "matrix", "simplex")


class LehrLexer(RegexLexer):
    """Tokens of a model file."""

    name = "Lehr"
    aliases = ["lehr"]
    filenames = ["*.lehr"]
    tokens = {
        "root": [
            (r"\s+", Text.Whitespace),
            (r"//[^\r\n]*", Comment.Single),
            (r"/\*(?:.|\n)*?\*/", Comment.Multiline),
            (words(DECLARATIONS, prefix=r"\b", suffix=r"\b"), Keyword.Declaration),
            (words(TYPES, prefix=r"(?<=: )", suffix=r"\b"), Keyword.Type),
            (words(WITHIN, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"[A-Z]\w*(?=\s*\()", Name.Class),
            (r"\w+(?=\()", Name.Function),
            (r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", Number),
            (r"[^\W\d][\w\u2080-\u2089]*", Name),
            (r"[~=+\-*/]", Operator),
            (r"[{}()\[\];,:]", Punctuation),
            (r".", Text),
        ],
    }
