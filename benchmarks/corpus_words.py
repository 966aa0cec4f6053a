"""Word lists and sentence templates of the generated notes; all made up for this purpose.

A template is ``(text with %s, the kinds of word that fill it)``.  Lists are ordered from frequent
to rare: the generator weights them by rank.
"""

from __future__ import annotations

from collections.abc import Callable

Uniform = Callable[[], float]
Template = tuple[str, tuple[str, ...]]

SIMPLE_NOUNS = """
server backup note index model cache query file disk cable test build release ticket router review script
sensor dashboard branch meeting report roster budget network passkey printer schedule config plugin
container battery fan laptop kernel driver parser queue socket snapshot vector chunk folder calendar
invoice garden kitchen heater window camera microphone speaker keyboard monitor switch rack shelf drawer
label badge ladder bicycle garage fence boiler thermostat doorbell lamp curtain recipe bread soup coffee
basil tomato pepper lemon migration schema table column record ledger journal archive mirror volume
partition bucket shard replica cluster gateway proxy firewall tunnel certificate registry manifest package
wheel compiler linker debugger profiler trace metric alert threshold baseline histogram percentile latency
bandwidth timeout retry deadline lease lock mutex thread worker scheduler handler listener callback
iterator generator decoder encoder tokenizer embedding ranking corpus dataset sample fixture benchmark
notebook figure poster slide handout workshop seminar lecture homework passport visa ticketing luggage
platform timetable ferry bridge canal harbour lighthouse island mountain valley forest meadow orchard
beehive greenhouse compost shovel bucketful wheelbarrow hammer drill screw hinge bracket solder resistor
capacitor relay fuse transformer antenna receiver transmitter beacon compass telescope tripod violin cello
trumpet drum metronome score rehearsal concert album playlist headset amplifier turntable needle dentist
pharmacy insurance contract landlord deposit receipt refund voucher warranty courier parcel envelope stamp
sourdough pancake noodle dumpling curry pickle marmalade cinnamon saffron rosemary pistachio walnut raisin
helmet harness rope carabiner chalk boulder trail summit glacier avalanche tent stove lantern binoculars
umbrella raincoat scarf mitten zipper button thread-box sewing-kit loom quilt carpet hammock balcony
chimney
""".split()

_COMPOUND = "nightly weekly remote local shared spare upstream legacy draft off-site hallway staging".split()

_VERBS = """
check move restart update rename copy test compare measure clean review archive document restore replace
fix deploy rotate migrate index patch rebuild trim inspect label order mount flush merge revert split pin
mute drain calibrate benchmark encrypt compress decode export import throttle profile refactor delete
disable enable postpone cancel schedule borrow return repair paint water solder tighten unplug photograph
translate summarise
""".split()

_PAST = """
checked moved restarted updated renamed copied tested compared measured cleaned reviewed archived
documented restored replaced fixed deployed rotated migrated indexed patched rebuilt trimmed inspected
labelled ordered mounted flushed merged reverted split pinned muted drained calibrated benchmarked
encrypted compressed decoded exported imported throttled profiled refactored deleted disabled enabled
postponed cancelled scheduled borrowed returned repaired painted watered soldered tightened unplugged
photographed translated summarised
""".split()

_ADJECTIVES = """
new old slow small broken quiet second stale large local noisy empty strange cheap red green spare late
loose partial silent warm brittle dusty polite stubborn harmless expensive borrowed crooked hidden
temporary final misleading overdue half-finished unlabelled reliable fragile redundant obscure seasonal
forgotten suspicious
""".split()

_PEOPLE = """
Mira Tobi Wren Dario Anouk Ottilie Juno Pelle Saskia Bram Ilse Kofi Nadia Rufus Yara Emil Liv Hamid Greta
Otis Farah Jonas Maren Tariq Elin Bruno Vesna Anselm Priya Lothar Noor Stellan Imke Rafael Dunya Corin
Meike Idris Tova Lasse Amaru Fenna Jorik Selma Baptist Ronja Malik Hedda Quentin Zofia Arvid Leonie
Kasimir Mette Osman Philippa Torben Undine Viggo Xenia
""".split()

_FIRST = """
tide copper hollow amber maple quiet silver north paper velvet iron cedar lunar ember moss salt cobalt
harbor winter clover granite saffron linen raven juniper marble violet thistle pewter coral
""".split()
_SECOND = """
pool parrot bridge lantern anchor kite ledger orchard compass badger loom signal meadow finch kettle ferry
beacon otter quarry sparrow canvas heron barrel piano walnut tunnel
""".split()
_HOSTS = """
attic pantry study cellar hallway garage balcony porch loft shed workshop annex veranda larder nursery
chimney foyer greenroom boathouse stable mill tower gatehouse depot
""".split()
_PLACES = """
kitchen office library workshop station hackerspace bakery hospital airport museum market school pharmacy
harbour embassy theatre laundromat allotment climbing-hall planetarium
""".split()
_ADVERBS = """
still again probably quietly already almost suddenly partly surprisingly carefully reluctantly mostly
barely twice manually accidentally finally deliberately officially briefly permanently cheerfully
""".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()

POOLS: dict[str, list[str]] = {
    "noun": SIMPLE_NOUNS
    + [f"{first} {noun}" for noun in SIMPLE_NOUNS[:110] for first in _COMPOUND]
    + [f"{a} {b}" for a, b in zip(SIMPLE_NOUNS[:140], SIMPLE_NOUNS[97:237], strict=True)],
    "verb": _VERBS,
    "past": _PAST,
    "adj": _ADJECTIVES,
    "a adj": [f"{'an' if word[0] in 'aeiou' else 'a'} {word}" for word in _ADJECTIVES],
    "adv": _ADVERBS,
    "month": _MONTHS,
    "person": _PEOPLE,
    "project": [f"{first}-{second}" for second in _SECOND for first in _FIRST],
    "host": _HOSTS + [f"{host}-{n}" for n in range(2, 40) for host in _HOSTS],
    "place": _PLACES,
    "day": _DAYS,
    "when": _DAYS
    + ["yesterday", "this morning", "after lunch", "last week", "before the weekend", "at noon"]
    + [f"on {day} {month}" for month in _MONTHS for day in range(1, 29)],
    "num": [str(n) for n in (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 50, 60, 90, 100, 120, 250, 500)]
    + [str(n * n * 7 % 9973 + 11) for n in range(1, 900)],
    "unit": "ms seconds minutes hours MB GB percent days lines files requests degrees watts euros".split(),
}

STYLES = ("items", "items", "items", "prose", "prose", "chat", "tasks", "items", "prose", "table")
SYLLABLES = "ka lo mi ren tas vo qui bel dor fen gal hu jin nor pel ris sto tar ulm wex yol zan bri cla dre".split()
TICKETS = "QX HL OPS NET DOC LAB WEB SEC INF APP".split()
SUFFIXES = "py toml md yaml rs ts sh json sql log".split()
HEADINGS = (
    "Standup %s, %s", "%s: the %s", "Decision on %s and the %s", "Incident in %s: %s", "Work on %s (%s)",
    "Notes about %s, mostly the %s", "Call about %s and its %s", "Chores, %s, %s", "Review of %s: %s",
    "What %s taught us about the %s", "Plan for %s: %s first", "Loose ends of %s, %s",
)  # fmt: skip


def _template(text: str) -> Template:
    """``"{person} did"`` as ``("%s did", ("person",))``."""
    parts = text.replace("%", "%%").replace("a {adj}", "{a adj}").split("{")
    slots = tuple(part.split("}")[0] for part in parts[1:])
    return parts[0] + "".join("%s" + part.split("}", 1)[1] for part in parts[1:]), slots


OPENERS: tuple[Template, ...] = tuple(
    _template(line)
    for line in """
{person} {past} the {adj} {topic} on {host} and found that {ident} was still in use
the {topic} of {project} was {adj}, so {person} {past} it {when}
decision: we keep the {topic} on {host} and {verb} the {adj} {noun} instead
{person} asked whether the {topic} needs {ident} at all, or only a {adj} {noun}
{ident} is the reason why the {topic} took {num} {unit} rather than {num}
moved {ident} from the {noun} to {host}, because the {topic} was too {adj}
the {adj} {topic} behind {project} failed {when} after {num} {unit}
{person} prefers a {adj} {topic} to the {noun} that {project} uses today
after the {noun} was {past}, the {topic} on {host} dropped to {num} {unit}
to do: {verb} the {topic}, {verb} the {noun}, and tell {person} about {ident}
we agreed with {person} that {project} will {verb} its {topic} every {day}
the {topic} at the {place} is {adj}; {person} will {verb} it {when}
cause of the {topic} problem: {ident} was {past} before the {noun} was ready
{person} wrote that {ident} and the {topic} are not the same thing, which took us {num} {unit} to learn
measured the {topic} again: {num} {unit} on {host}, {num} {unit} without the {adj} {noun}
nobody knows why {project} wants a {adj} {topic}, but without it the {noun} is never {past}
{person} brought a {adj} {noun} from the {place}, and it fits the {topic}
rejected: a {adj} {noun} in front of the {topic}, since {ident} already does that
{project} now reads {ident} at start and refuses a {adj} {topic}
I {past} the {topic} twice; the second time {host} answered in {num} {unit}
the {noun} for {person} arrived {when}, the {topic} did not
{person} and I looked at {ident} for {num} {unit} and then {past} the {topic}
reminder from {person}: {verb} the {topic} before {day}, and never the {noun} first
limit of the {topic} raised to {num} {unit}, because the {adj} {noun} of {project} needs it
what helped was to {verb} the {topic}, what did not help was the {adj} {noun}
question for {person}: who owns {ident}, now that the {topic} lives on {host}
lesson: a {adj} {topic} is cheaper than a {adj} {noun} with {ident} in it
{host} lost its {topic} for {num} {unit} {when}, nobody but {person} noticed
{person} showed me {rare}, a {adj} way to {verb} the {topic} without touching {ident}
talked to {person} at the {place}: {rare} would {verb} the {topic} for {num} {unit} a month
first impression of {rare}: {adv} {adj}, and it insists on a {noun} that {host} lacks
{person} found {ident} {adv} between the {topic} and the {noun} of {project}
open point {adv} raised by {person}: does {project} still need {rare} for its {topic}
plan for {day}: {verb} the {noun}, {verb} the {topic}, leave {ident} alone
ran {ident} on {host} for {num} {unit}; the {topic} came out {adv} {adj}
{rare} released {ident}, which lets us {verb} the {topic} and drop the {adj} {noun}
observed {num} {unit} of silence from the {topic}, followed by a {adj} {noun} on {host}
{person} votes for {rare}, {project} is {adv} built on the {topic}, so the vote was short
bought nothing at the {place}; the {topic} from {rare} was {adv} {adj}
the contract with {rare} covers the {topic} until {month}, the {noun} is extra
whoever touches {ident} must {adv} {verb} the {topic} and inform {person}
thanks to {person} the {topic} survived {num} {unit} without its {adj} {noun}
strange noise near the {topic}: turned out to be the {adj} {noun} from {rare}
""".strip().splitlines()
)

TAILS: tuple[Template, ...] = tuple(
    _template(line)
    for line in """
, which {person} wants to {verb} again {when}
, and the {noun} can wait until {day}
; the {adj} {noun} stays where it is for {num} {unit}
, because the {noun} near the {place} is {adj} and will not be {past}
; next step is to {verb} the {topic} and compare it with the {noun}
, so {project} has one {adj} {noun} less to {verb}
; {person} keeps the {noun} at the {place} for another {num} {unit}
, although {ident} says otherwise and the {noun} agrees with it
 (asked {person}, who had {past} the same {noun} {when})
, as long as nobody has to {verb} the {noun} by hand
; it cost {num} {unit} and a {adj} {noun}
, with {num} {unit} to spare and the {noun} {past}
; we {past} the {adj} {noun} as well, to be safe
, then {verb} the {noun} and write down what the {topic} did
, and that is why {host} has a {adj} {noun} now
; see {ident} for the {adj} details of the {topic}
, just like {rare} did with the {adj} {noun} in {month}
; {person} blames {rare}, {rare} blames the {noun}, both are {adv} right
, {adv} {past} {when} by {person} and a {adj} {noun}
; total for {month}: {num} {unit}, most of it {adv} spent on the {noun}
, until somebody at {rare} can {verb} the {noun}
, provided that the {noun} from the {place} is {adv} {past} first
; estimate {num} {unit}, confidence {adj}
, whereas {host} {adv} runs the {adj} {noun}
 - photo and receipt of the {noun} are with {person}
; if this returns, {verb} {ident} before anything else
, and {rare} sent {num} {unit} of it to the {place} by mistake
; related: {noun}, {noun}, {ident}
""".strip("\n").splitlines()
)

ROW: Template = _template("| {topic} {ident} | {host} | {person} | {num} {unit}, {adj} |")

assert len(_VERBS) == len(_PAST)
