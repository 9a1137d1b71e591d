"""What is looked for, and what comes first of what was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.memory.ranking import (
    FADES,
    WORDS_MOST,
    Pool,
    RankingCandidate,
    query_words,
    rank,
    worth_showing,
)


def order(*candidates: RankingCandidate) -> list[str]:
    return [one.candidate.id for one in rank(candidates)]


def score(one: RankingCandidate, *others: RankingCandidate) -> float:
    return next(result.score for result in rank([one, *others]) if result.candidate is one)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("When did the parser fail?", ("parser", "fail")),
        ("Where is `parse_hook`?", ("parse_hook", "parse", "hook")),
        ("look at src/app/retry.py", ("look", "src/app/retry.py", "src", "app", "retry", "py")),
        ("parseHTTPResponse", ("parseHTTPResponse", "parse", "HTTP", "Response")),
        ("the ecommerce-api project", ("project", "ecommerce", "api")),
        ("issue #12 in v1.2.3", ("issue", "#12", "v1.2.3", "12", "v1")),
        ("Parser, PARSER and parser's", ("Parser",)),
        ("use_the_cache", ("use_the_cache", "cache")),
        ("what is it?", ()),
        ("", ()),
    ],
)
def test_the_words_of_a_query(asked: str, words: tuple[str, ...]) -> None:
    assert query_words(asked) == words


@given(st.text())
def test_a_query_has_few_words_each_once(asked: str) -> None:
    words = query_words(asked)
    assert len(words) <= WORDS_MOST
    assert len({word.lower() for word in words}) == len(words)


@pytest.mark.parametrize("voice", ["keywords", "nearness", "meaning"])
def test_each_voice_alone_decides_between_texts_that_are_otherwise_alike(voice: str) -> None:
    one = RankingCandidate("one", 5, 0.5, 0.5)
    more = one._replace(id="more", **{voice: getattr(one, voice) * 1.5})
    assert order(one, more) == ["more", "one"]


def test_two_voices_that_agree_beat_one_that_shouts() -> None:
    shouts = RankingCandidate("shouts", keywords=12)
    assert order(shouts, RankingCandidate("agree", keywords=9, nearness=0.8, meaning=0.6)) == [
        "agree",
        "shouts",
    ]


def test_the_keyword_score_has_no_end_and_the_sum_has_one() -> None:
    assert score(RankingCandidate("all", 1e9, 1, 1)) == pytest.approx(1)


def test_a_meaning_that_points_away_counts_for_nothing() -> None:
    assert order(RankingCandidate("away", meaning=-0.9)) == []
    assert score(RankingCandidate("kept", keywords=3, meaning=-0.9)) == score(
        RankingCandidate("kept", keywords=3)
    )


def test_a_text_gains_from_its_neighbours_and_more_from_the_next_than_from_the_one_after() -> None:
    asked = RankingCandidate("asked", 9, 0.9, session="s", place=4)
    answer, after, far = (RankingCandidate(f"{place}", 1, session="s", place=place) for place in (5, 6, 7))
    assert order(far, after, answer, asked) == ["asked", "5", "6", "7"]
    assert score(answer, asked) > score(after, asked) > score(far, asked)
    assert score(answer, asked) == score(answer._replace(place=3), asked)


def test_neighbours_in_another_session_or_in_none_are_none() -> None:
    asked, answer = (
        RankingCandidate("asked", 9, 0.9, session="s", place=4),
        RankingCandidate("a", 1, session="t", place=5),
    )
    assert score(answer, asked) == score(answer)
    assert score(answer._replace(session=""), asked._replace(session="")) == score(answer)


def test_a_session_that_is_about_the_matter_lifts_what_else_it_says() -> None:
    best, lifted = (
        RankingCandidate("best", 9, session="s", place=0),
        RankingCandidate("lifted", 3, session="s", place=9),
    )
    assert order(best, RankingCandidate("alone", 3), lifted) == ["best", "lifted", "alone"]


def test_the_best_text_is_not_moved_by_standing_in_a_session() -> None:
    assert score(RankingCandidate("one", 5, session="s")) == score(RankingCandidate("one", 5))


def test_among_equals_the_stronger_leads_and_no_more_than_that() -> None:
    fresh, old = RankingCandidate("fresh", 5), RankingCandidate("old", 5, strength=0)
    assert order(old, fresh) == ["fresh", "old"]
    assert score(old) == pytest.approx((1 - FADES) * score(fresh))
    assert order(fresh._replace(keywords=4), old) == ["old", "fresh"]


def test_equals_stay_in_the_order_in_which_they_came() -> None:
    assert order(RankingCandidate("b", 2), RankingCandidate("a", 2), RankingCandidate("c", 2)) == [
        "b",
        "a",
        "c",
    ]


def shown(*candidates: RankingCandidate) -> list[str]:
    return [one.candidate.id for one in worth_showing(rank(candidates))]


def test_what_was_only_nearer_than_nothing_is_noise() -> None:
    far, near = RankingCandidate("far", meaning=0.3), RankingCandidate("near", nearness=0.9, meaning=0.9)
    assert shown(far, near) == ["near"]
    between = RankingCandidate("between", nearness=0.5, meaning=0.35)
    assert shown(between) == [], "nothing has any of the words"
    worded = RankingCandidate("worded", keywords=0.001, nearness=0.5, session="s")
    beside = RankingCandidate("beside", nearness=0.5, session="s", place=1)
    assert set(shown(between, worded, beside)) == {"between", "worded", "beside"}


def test_what_stands_out_by_its_meaning_alone_is_shown() -> None:
    near = RankingCandidate("near", nearness=0.5, meaning=0.35)
    far = RankingCandidate("far", nearness=0.3, meaning=0.2)
    assert shown(near, far) == ["near"]
    assert shown(near, near._replace(id="as near")) == [], "neither stands out"
    assert shown(far) == [], "there is nothing to compare it with"


def test_what_is_far_weaker_than_the_best_is_left_out() -> None:
    best, good = RankingCandidate("best", keywords=90.0), RankingCandidate("good", keywords=10.0)
    weak = RankingCandidate("weak", keywords=1.0)
    assert shown(weak, good, best) == ["best", "good"]
    assert shown(weak) == ["weak"]
    assert shown() == []


def test_a_pool_looks_again_at_the_best_of_both_searches() -> None:
    pool = Pool({"both": 6, "words": 7, "weak": 1}, {"both": 0.9, "like": 0.1})
    assert pool.seeds(3) == ["both", "words", "weak"]
    assert Pool({}, {}).seeds(3) == []


def test_what_a_search_left_out_is_no_nearer_than_what_it_gave() -> None:
    pool = Pool({"words": 7}, {"near": 0.6, "less": 0.4})
    assert pool.voices(["near", "words", "neither"]) == [(0, 0.6), (7, 0.4), (0, 0.4)]


numbers = st.floats(0, 1)
candidates = st.builds(
    RankingCandidate,
    id=st.text(max_size=3),
    keywords=st.floats(0, 1e6),
    nearness=numbers,
    meaning=st.floats(-1, 1),
    strength=numbers,
    session=st.sampled_from(["", "s", "t"]),
    place=st.integers(0, 5),
)


@given(st.lists(candidates))
def test_any_candidates_come_back_once_and_in_order(found: list[RankingCandidate]) -> None:
    scores = [one.score for one in rank(found)]
    assert scores == sorted(scores, reverse=True)
    assert all(one > 0 for one in scores)
    assert {id(one.candidate) for one in rank(found)} <= set(map(id, found))
    assert len(scores) <= len(found)


@given(st.lists(candidates), candidates)
def test_more_keywords_never_lower_a_score(others: list[RankingCandidate], one: RankingCandidate) -> None:
    one = one._replace(keywords=one.keywords + 1)
    more = one._replace(keywords=one.keywords + 5)
    apart = [other for other in others if (other.session, other.place) != (one.session, one.place)]
    assert score(more, *apart) >= score(one, *apart)
