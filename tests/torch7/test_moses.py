"""The rock moses: what each function gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bridge

# Functions with a key first see it as _k, with a value first as v.
HELP = """
_ = require 'moses'
function even(_k, v) return v % 2 == 0 end
function double(_k, v) return v * 2 end
function add(a, b) return a + b end
function less(a, b) return a < b end
function list(f) local all = {} for v in f do all[#all + 1] = type(v) == 'table' and _.clone(v) or v end return all end
people = {{name = 'a', age = 3}, {name = 'b', age = 1}, {name = 'c', age = 3}}
"""


@pytest.fixture(scope="module")
def moses() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute(HELP)
        yield lua


VALUES: list[tuple[str, Any]] = [
    # tables
    ("_.clear{1, 2}", []),
    (
        "(function() local s = 0 _.each({1, 2}, function(k, v, w) s = s + k * v * w end, 3) return s end)()",
        15,
    ),
    (
        "(function() local s = '' _.eachi({[3]='c', [1]='a', x=1}, function(_, v) s = s .. v end) return s end)()",
        "ac",
    ),
    ("_.at({4, 5, 6}, 1, 3, 9)", [4, 6]),
    ("_.count{1, 2, 2}", 3),
    ("_.count({1, 2, 2}, 2)", 2),
    ("_.countf({1, 2, 4}, even)", 2),
    ("_.size(#'ab', 2, 3)", 3),
    ("_.size{1, x = 2}", 2),
    ("(function() local s = 0 for _k, v in _.cycle({1, 2}, 3) do s = s + v end return s end)()", 9),
    ("list(_.cycle({}, 3))", []),
    ("_.map({1, 2}, double)", [2, 4]),
    ("_.reduce({1, 2, 3}, add)", 6),
    ("_.foldl({1, 2}, add, 10)", 13),
    ("_.reduceRight({'a', 'b', 'c'}, function(a, b) return a .. b end)", "cba"),
    ("_.mapReduce({1, 2, 3}, add)", [1, 3, 6]),
    ("_.mapReduceRight({1, 2, 3}, add)", [3, 5, 6]),
    ("_.include({1, {2}}, {2})", True),
    ("_.contains({1, 2}, 3)", False),
    ("_.detect({6, 7}, 7)", 2),
    ("_.detect({6, 7}, function(v) return v > 6 end)", 2),
    ("#_.where(people, {age = 3})", 2),
    ("_.where(people, {age = 9})", None),
    ("_.findWhere(people, {age = 1}).name", "b"),
    ("_.filter({1, 2, 4}, even)", [2, 4]),
    ("_.reject({1, 2, 4}, even)", [1]),
    ("_.all({2, 4}, even)", True),
    ("_.all({2, 3}, even)", False),
    ("_.invoke({'a', 'bc'}, string.len)", [1, 2]),
    ("_.invoke({{f = function(o, x) return o.n + x end, n = 1}}, 'f', 2)", [3]),
    ("_.pluck(people, 'age')", [3, 1, 3]),
    ("_.max{3, 9, 4}", 9),
    ("_.min(people, function(p) return p.age end)", 1),
    ("_.same({1, 2, 3}, {3, 1, 2})", True),
    ("_.same({1, 2}, {1, 2, 3})", False),
    ("_.sort({3, 1, 2})", [1, 2, 3]),
    ("_.pluck(_.sortBy(_.clone(people), 'age', function(a, b) return a > b end), 'age')", [3, 3, 1]),
    (
        "_.groupBy({1, 2, 3}, function(_k, v) return v % 2 == 0 and 'even' or 'odd' end)",
        {"odd": [1, 3], "even": [2]},
    ),
    (
        "_.countBy({1, 2, 3}, function(_k, v) return v % 2 == 0 and 'even' or 'odd' end)",
        {"odd": 2, "even": 1},
    ),
    ("_.containsKeys({a = 1, b = 2}, {a = 9})", True),
    ("_.sameKeys({a = 1, b = 2}, {a = 9})", False),
    ("_.sort(_.shuffle({3, 1, 2}, 5))", [1, 2, 3]),
    # lists
    ("_.toArray(1, 2)", [1, 2]),
    ("#_.sample({1, 2, 3}, 2)", 2),
    ("_.sampleProb({1, 2}, 1)", [1, 2]),
    ("_.find({1, {2}}, {2})", 2),
    ("_.find({1, 2, 1}, 1, 2)", 3),
    ("_.reverse{1, 2, 3}", [3, 2, 1]),
    ("_.fill({1, 2, 3, 4}, 0, 2, 3)", [1, 0, 0, 4]),
    ("_.selectWhile({2, 4, 5, 6}, even)", [2, 4]),
    ("_.dropWhile({2, 4, 5, 6}, even)", [5, 6]),
    ("_.sortedIndex({1, 3, 5}, 4)", 3),
    ("_.sortedIndex({5, 1, 3}, 9, less, true)", 4),
    ("_.indexOf({6, 7, 6}, 6)", 1),
    ("_.lastIndexOf({6, 7, 6}, 6)", 3),
    ("_.findIndex({1, 2, 4}, even)", 2),
    ("_.findLastIndex({1, 2, 4, 5}, even)", 3),
    ("_.addTop({1}, 2, 3)", [3, 2, 1]),
    ("_.push({1}, 2, 3)", [1, 2, 3]),
    ("{_.pop({1, 2, 3}, 2)}", [1, 2]),
    ("{_.unshift({1, 2, 3}, 2)}", [3, 2]),
    ("_.pull({1, 2, 1, 3}, 1, 3)", [2]),
    ("_.removeRange({1, 2, 3, 4}, 2, 3)", [1, 4]),
    ("_.chunk({2, 4, 1, 6}, even)", [[2, 4], [1], [6]]),
    ("_.slice({1, 2, 3, 4}, 2, 3)", [2, 3]),
    ("_.first({1, 2, 3}, 2)", [1, 2]),
    ("_.initial({1, 2, 3})", [1, 2]),
    ("_.initial({1, 2, 3}, 2)", [1]),
    ("_.last({1, 2, 3})", [2, 3]),
    ("_.last({1, 2, 3}, 1)", [3]),
    ("_.rest({1, 2, 3}, 3)", [3]),
    ("_.nth({4, 5}, 2)", 5),
    ("_.compact{1, false, 2}", [1, 2]),
    ("_.flatten{1, {2, {3}}}", [1, 2, 3]),
    ("#_.flatten({1, {2, {3}}}, true)", 3),
    ("_.append({1}, {2})", [1, 2]),
    ("_.zip({1, 2}, {3, 4})", [[1, 3], [2, 4]]),
    ("_.interleave({1, 2}, {3, 4})", [1, 3, 2, 4]),
    ("_.interpose(0, {1, 2, 3})", [1, 0, 2, 0, 3]),
    ("_.range(3)", [0, 1, 2, 3]),
    ("_.range(2, 4)", [2, 3, 4]),
    ("_.range(0, 2, 0.5)", [0, 0.5, 1, 1.5, 2]),
    ("_.range()", []),
    ("_.rep(7, 2)", [7, 7]),
    ("_.invert{'a', 'b'}", {"a": 1, "b": 2}),
    ("_.concat({1, true, 'x'}, '-')", "1-true-x"),
    ("list(_.partition({1, 2, 3}, 2))", [[1, 2], [3]]),
    ("list(_.partition({1, 2, 3}, 2, 0))", [[1, 2], [3, 0]]),
    ("list(_.sliding({1, 2, 3, 4}, 3, 0))", [[1, 2, 3], [3, 4, 0]]),
    ("#list(_.permutation{1, 2, 3})", 6),
    # sets
    ("_.unique{1, 2, 1, {3}, {3}}", [1, 2, [3]]),
    ("_.isunique{1, 2, 1}", False),
    ("_.difference({1, 2, 3}, {2})", [1, 3]),
    ("_.union({1, 2}, {2, 3})", [1, 2, 3]),
    ("_.intersection({1, 2, 3}, {2, 3}, {3})", [3]),
    ("_.symmetricDifference({1, 2}, {2, 3})", [1, 3]),
    # functions
    ("_.noop(1)", None),
    ("_.identity(4)", 4),
    ("_.constant(4)()", 4),
    (
        "(function() local n = 0 local f = _.memoize(function() n = n + 1 return n end) f(1) f(1) return f(2) end)()",
        2,
    ),
    ("(function() local f = _.once(function(x) return x end) f(1) return f(2) end)()", 1),
    ("(function() local f = _.before(function(x) return x end, 2) f(1) f(2) return f(3) end)()", 2),
    (
        "(function() local f = _.after(function(x) return x end, 2) return {f(1) == nil, f(2)} end)()",
        [True, 2],
    ),
    ("_.compose(function(x) return x + 1 end, function(x) return x * 2 end)(3)", 7),
    ("_.pipe(3, function(x) return x + 1 end, function(x) return x * 2 end)", 8),
    ("_.complement(less)(1, 2)", False),
    ("{_.juxtapose(4, math.sqrt, tostring)}", [2, "4"]),
    ("_.wrap(add, function(f, a) return f(a, a) end)(3)", 6),
    ("_.times(3, function(i, x) return i * x end, 2)", [2, 4, 6]),
    ("_.bind(less, 1)(2)", True),
    ("_.bind2(less, 1)(2)", False),
    ("_.bindn(math.max, 1, 5)(3)", 5),
    ("_.bindAll({n = 2, f = function(o) return o.n end}, 'f').f()", 2),
    ("_.flip(less)(1, 2)", False),
    ("_.partial(less, '_', 2)(1)", True),
    ("_.partial(less, 1)(2)", True),
    ("_.partialRight(less, 2)(1)", True),
    ("_.curry(add)(1)(2)", 3),
    ("_.over(math.min, math.max)(3, 5)", [3, 5]),
    ("_.overEvery(less, less)(1, 2)", True),
    ("_.overSome(less, function() return true end)(2, 1)", True),
    ("_.overArgs(add, math.abs, math.sqrt)(-1, 9)", 4),
    ("_.uniqueId() < _.uniqueId()", True),
    ("_.uniqueId('id%d'):match('^id%d+$') ~= nil", True),
    ("_.iterator(function(x) return x + 1 end, 3)()", 4),
    ("_.array(('a b'):gmatch('%a'))", ["a", "b"]),
    ("select(2, _.time(add, 1, 2))", 3),
    # objects
    ("_.sort(_.keys{a = 1, b = 2})", ["a", "b"]),
    ("_.sort(_.values{a = 1, b = 2})", [1, 2]),
    ("_.kvpairs{a = 1}", [["a", 1]]),
    ("_.toObj{{'a', 1}}", {"a": 1}),
    ("_.property('a'){a = 5}", 5),
    ("_.propertyOf({a = 5})('a')", 5),
    ("_.toBoolean(0)", True),
    ("_.extend({a = 1}, {b = 2}, {a = 3})", {"a": 3, "b": 2}),
    ("_.functions{g = print, f = print, x = 1}", ["f", "g"]),
    ("_.clone({1, {2}})[2][1]", 2),
    (
        "(function() local t = {{}} return {_.clone(t)[1] ~= t[1], _.clone(t, true)[1] == t[1]} end)()",
        [True, True],
    ),
    ("_.tap({1}, function(t) t[1] = 2 end)", [2]),
    ("_.has({a = false}, 'a')", True),
    ("_.pick({a = 1, b = 2, c = 3}, 'a', {'c'})", {"a": 1, "c": 3}),
    ("_.omit({a = 1, b = 2, c = 3}, 'a', {'c'})", {"b": 2}),
    ("_.template({a = 1}, {a = 2, b = 3})", {"a": 1, "b": 3}),
    ("_.isEqual({1, {a = 2}}, {1, {a = 2}})", True),
    ("_.isEqual({1}, {1, 2})", False),
    ("_.result('abc', 'len')", 3),
    ("_.result({a = 1}, 'a')", 1),
    ("_.isCallable(setmetatable({}, {__call = print}))", True),
    ("_.isArray{1, 2}", True),
    ("_.isArray{a = 1}", False),
    ("_.isIterable{}", True),
    ("_.isIterable(1)", False),
    ("_.isEmpty''", True),
    ("_.isEmpty{1}", False),
    ("_.isNil(nil)", True),
    ("_.isNaN(0 / 0)", True),
    ("_.isNaN(1)", False),
    ("_.isFinite(math.huge)", False),
    ("_.isInteger(2.5)", False),
    ("_.isString('') and _.isTable{} and _.isNumber(1) and _.isBoolean(true) and _.isFunction(print)", True),
    # chains
    ("_({1, 2, 3, 4}):filter(even):map(double):value()", [4, 8]),
    ("_.chain({3, 1}):max():value()", 3),
    ("_.import({}).map == _.map", True),
    ("_.import({map = 1}, true).map", 1),
]


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_value(moses: bridge.Lua, expression: str, value: Any) -> None:
    assert moses.eval(expression) == value


def test_every_function_is_tried_here(moses: bridge.Lua) -> None:
    tried = " ".join(expression for expression, _ in VALUES) + " isTable isString"
    names = moses.execute(
        """
        local first = {}
        for _k, name in ipairs(_.functions()) do
           local f = _[name]
           first[f] = first[f] or {}
           table.insert(first[f], name)
        end
        local all = {}
        for _k, names in pairs(first) do all[#all + 1] = names end
        return all
        """
    )
    assert [same for same in names if not any(name in tried for name in same)] == []


def test_nan_is_found_by_its_sum() -> None:
    with bridge.Lua() as lua:
        lua.require("nn")
        code = "return pcall(nn.NaN(nn.Identity(), 4).forward, nn.NaN(nn.Identity(), 4), torch.Tensor{1/0, -1/0})"
        ok, message = lua.execute(code)
        assert not ok
        assert "NaN found in input of module :\nnn.NaN @ nn.Identity id=4" in message
        assert lua.eval("nn.NaN.newId() + 1 == nn.NaN.newId()") is True
