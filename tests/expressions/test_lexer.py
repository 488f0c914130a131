"""LEX-1 to LEX-6: how source becomes tokens."""

from emulator.expressions.lexer import Token, tokenize


def kinds(text):
    return [token.kind for token in tokenize(text)]


def test_white_space_separates_and_is_otherwise_ignored():
    """LEX-1."""
    assert kinds(" a\t[\r\n 1 ]  . b ") == ["name", "[", "index", "]", ".", "name", "end"]


def test_a_token_knows_its_place():
    """LEX-8 cuts messages out of the source by these places."""
    assert tokenize("a  = :v") == [
        Token("name", "a", 0, 1),
        Token("=", "=", 3, 4),
        Token("literal", ":v", 5, 7),
        Token("end", "<EOF>", 7, 7),
    ]


def test_no_text_is_only_an_end():
    assert tokenize("  ") == [Token("end", "<EOF>", 0, 0)]


def test_an_identifier_starts_with_a_letter():
    """LEX-2: an underscore or digit before it is a token of its own, a hyphen a minus."""
    assert kinds("a1_b") == ["name", "end"]
    assert kinds("_x") == ["unknown", "name", "end"]
    assert kinds("1x") == ["index", "name", "end"]
    assert kinds("GI-1") == ["name", "-", "index", "end"]


def test_placeholders_may_start_with_digits_and_underscores():
    """LEX-3; a sign without a name starts no token."""
    assert kinds("#0 #_x :1 :_") == ["alias", "alias", "literal", "literal", "end"]
    assert kinds("# :") == ["unknown", "unknown", "end"]


def test_the_longest_sign_wins():
    """LEX-5."""
    signs = ["(", ")", "[", "]", ".", ",", "=", "<>", "<", "<=", ">", ">=", "+", "-"]
    assert kinds(" ".join(signs)) == [*signs, "end"]
    assert kinds("<=>") == ["<=", ">", "end"]


def test_there_are_no_other_signs_and_no_literals():
    """LEX-5: `!=`, `*` and quotes are characters that start nothing."""
    assert kinds("!=") == ["unknown", "=", "end"]
    assert kinds("*'\"ü") == ["unknown"] * 4 + ["end"]


def test_keywords_are_written_in_any_case():
    """LEX-6."""
    assert kinds("and Or NOT between iN set REMOVE add DELETE")[:-1] == [
        "AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE",
    ]  # fmt: skip


def test_a_list_index_has_no_leading_zero():
    """EXP-8, as the published grammar has it."""
    assert kinds("0 10 01") == ["index", "index", "index", "index", "end"]
