"""Words that everyday English is made of: alone or in a phrase they name no concept."""

from __future__ import annotations

from ..text.analysis import STOP_WORDS
from ..text.dates import MONTH_NUMBERS, WEEKDAY_SPELLINGS, WEEKDAYS

_CALENDAR = """
    spring summer autumn fall winter second seconds minute minutes hour hours day days daily week weeks weekly weekend
    weekends weekday weekdays month months monthly quarter quarters year years yearly decade decades morning mornings
    noon afternoon afternoons evening evenings night nights midnight tonight today yesterday tomorrow time times date
    dates moment moments montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli
    oktober dezember heute gestern morgen
"""
_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty fifty
    hundred hundreds thousand thousands million millions first third fourth fifth last next half once twice double
    single couple few many much several plenty dozen lot lots bunch bit piece pieces part parts percent number
    numbers amount rest whole total
"""
_FUNCTION = """
    above across again against ago ahead all almost alone along already also although always among amongst another
    anybody anymore anyone anything anyway anywhere apart around aside away back because become becoming behind
    below beneath between beside besides best better beyond both cannot certain despite different down each either
    else enough entire especially etc even ever every everybody everyone everything everywhere except far farther
    fewer former forth forward full fully further hence here herself himself however indeed inside instead itself
    just later latter least less like likely likewise little long longer main mainly maybe mere merely might mine
    more moreover most mostly must myself namely near nearly neither never nevertheless nobody none nor nothing now
    nowhere off often only onto or other others ought ours ourselves out outside over own per perhaps please plus
    pretty quite rather really same shall similar since so some somebody somehow someone something sometime
    sometimes somewhat somewhere soon still such sure than thereby therefore those though through throughout thru
    thus till together too toward towards under unless unlike until up upon usual usually versus via well whatever
    whenever whereas wherever whether while whoever whom whose within without worth yet yours yourself yourselves
    theirs themselves hers anyhow meanwhile otherwise regardless nope yep yes yeah yea yay wow whoa woah hey hi
    hello bye goodbye ok okay oh ah aww aw haha hahaha lol omg ugh hmm hm huh um uh thanks thank thx cheers congrats
    congratulations sorry welcome btw fyi imo asap gonna wanna gotta kinda sorta dear damn gosh god goodness heck
    hooray absolutely actually apparently barely basically certainly clearly completely constantly currently deeply
    definitely directly easily entirely eventually exactly extremely fairly finally frankly frequently fortunately
    generally gladly greatly hardly highly honestly hopefully immediately incredibly initially lately literally
    luckily normally obviously occasionally originally particularly personally possibly practically precisely
    previously probably properly quickly quietly rarely recently relatively roughly seriously seldom silently simply
    slightly slowly specifically straight strongly suddenly surely surprisingly totally truly typically ultimately
    unfortunately wholly early late fast hard afterwards beforehand nowadays whats thats its lets im ive id youre
    youve theyre weve isn aren wasn weren hasn haven hadn doesn didn don won wouldn couldn shouldn mustn needn ain
    ll ve re versions
"""
_QUALITIES = """
    able afraid amazing angry anxious available aware awesome awful awkward bad beautiful big bigger biggest blessed
    boring brave brief bright brilliant broad busy calm careful cheap clean clear clever close closed closer cold
    common complete confident confused cool correct crazy creative cruel curious cute dead deep delicious difficult
    eager easier easiest easy empty enjoyable epic equal exact excellent excited exciting expensive extra fair
    familiar fantastic favorite favourite final fine flat free fresh friendly frustrating fun funny general gentle
    genuine glad good gorgeous grateful great greater greatest happier happiest happy harder hardest heavy helpful
    high higher highest hot huge hungry important impossible impressive incredible inner inspirational inspiring
    intense interested interesting joyful kind keen large larger largest latest lazy lonely loud lovely low lower
    lowest lucky mad magical massive meaningful mental mild minor modern narrow nasty natural neat necessary
    negative nervous new newer newest nice nicer normal obvious odd old older oldest open original outer
    overwhelming particular past peaceful perfect personal pleased poor popular positive possible potential powerful
    precious present previous proper proud quick quiet rare raw ready real recent regular relaxed relaxing relevant
    remarkable responsible rich right rough sad safe scary scared separate serious shallow sharp short shorter sick
    silly simple simpler slight slow small smaller smallest smart smooth soft solid special specific spectacular
    stressful strange strong stronger stuck stunning stupid successful sudden sufficient super supportive surprised
    surprising sweet tall tasty terrible thankful thick thin thrilled thrilling tight tiny tired tough true typical
    ugly unable unbelievable unexpected unforgettable unique unusual upcoming upset useful useless vague valuable
    various vast vital warm weak weird wide wild wise wonderful worried worse worst worthwhile wrong yummy young
    younger delightful adorable fulfilling rewarding refreshing therapeutic challenging tremendous honored honoured
    passionate determined dedicated motivated inspired nostalgic incorrect invaluable cozy comfy charming precise
"""
_THINGS = """
    advice answer answers area aspect attention balance basis blast boost break case cases chance chances change
    changes choice choices comfort company course creativity credit deal dedication detail details difference
    direction doubt dream dreams effect effort efforts emotion emotions encouragement end ends energy excitement
    example examples experience experiences eye eyes face fact facts feeling feelings feedback figure fingers focus
    folks form friend friends future girl girls goal goals guy guys guess hand hands happiness head heart hearts
    help hint hope hopes idea ideas impact info information inspiration issue issues item items job joy journey kid
    kids kinds laugh level levels life line lines list lives look looks love luck man manner matter matters meaning
    memories men middle mind mindset mood motivation name names need needs note notes option options order passion
    path people person perspective photo photos pic pics picture pictures place places plan plans pleasure point
    points positivity power pride problem problems process progress purpose question questions reason reasons
    reminder result results room say sense share side sides sign situation situations size smile sort sorts source
    spot stage start state step steps stop story stories stuff style success support surprise talk tell term terms
    text thing things thought thoughts tip tips top topic topics touch treat trouble try type types update updates
    use value vibe vibes view views way ways woman women word words work works world worlds worry blessing
    possibilities possibility opportunity opportunities challenge challenges obstacles struggle struggles adventure
    adventures fan fans
"""
#: Verbs whose other forms follow from the rules; their plain form is routine too.
_VERBS = """
    accept achieve act add admire admit affect afford agree aim allow announce answer appear appreciate apply
    approach arrange arrive ask assume attend avoid base bear beat believe belong blame bore borrow bother brighten
    bring calm capture care carry cause celebrate challenge change chase chat check cheer choose claim close collect
    come comment compare complain complete concern confirm connect consider contain continue contribute convince
    cost count cover create cry dare deal decide define delay delete deliver depend deserve detail develop differ
    discover discuss drop earn embrace encourage end enjoy ensure enter escape excite exist expand expect explain
    explore express face fail fascinate feel fill find finish fit fix focus follow force forget gain get give glow
    go grab greet grow guess guide handle hang happen hate head hear help hit hold hope hug hurt ignore imagine
    improve include increase inspire intend interest introduce invite involve join jump keep kick kill kind know
    lack last laugh launch lead learn leave let lie like list listen live look lose love lower make manage matter
    mean meet mention mess mind miss motivate move name need notice offer open order overcome owe pass pay pick plan
    play post prefer prepare press pretend prevent produce promise prove provide pull pursue push put quit raise
    reach react read realise realize receive recharge recommend record reduce refer reflect refuse relate relax rely
    remain remember remind remove repeat replace reply report represent require resonate respond rest return reveal
    rock rush save say see seek seem send serve set settle share shine shoot shout show shut sit sleep smell smile
    snap solve sort sound speak spend spread stand start stay stick stop strengthen struggle succeed suggest suit
    support suppose surprise surround switch take talk taste teach tell thank think throw tie touch treat trust try
    turn understand unwind update use value visit wait wake walk want warn watch wear welcome win wish wonder work
    worry write yell lay shared hike call uplift overwhelm nail pop wrap tackle juggle navigate bond snuggle
"""
#: Forms of theirs that follow from no rule.
_IRREGULAR = """
    ate became been began begun bore bought broke broken brought built came caught chose chosen cost cut did done
    drew drawn drank drunk drove driven eaten fell fallen felt found flew flown forgot forgotten fought gave given
    gone got gotten grew grown heard held hid hidden hung kept knew known laid learnt led left lent lost made meant
    met paid ran read rode rung rose risen said sang saw seen sent shook shown shone slept sold sought spent spoke
    spoken stood struck stole swam taken taught threw thrown told took torn tore understood went woke woken wore
    worn wrote written doing going lying tying dying being having does goes has
"""
#: What notes call their own parts.
_LABELS = """
    action actions agenda attendees author backlog background blocked blocker blockers category changelog chore
    chores conclusion cons context created decided decision decisions deadline description discussion draft due
    duration errand errands estimate home explanation finding findings fixed follow-up followup groceries highlights
    incident ingredients input instructions intro kudos lesson lessons link links location log meeting memo misc
    objective outcome outlook output overview owner participants pending preferences priority pros recap reference
    references reminders resolved retro retrospective review role score setup shopping solution standup status
    subject summary tag tags takeaway takeaways task tasks title todo todos updated url version visitor waiting
    warning website
"""
#: Units, titles and abbreviations that are written with capitals.
_MARKS = """
    tv am pm gb mb kb tb gib mib kib hz khz mhz ghz kwh usd eur gbp tbd wip eg ie vs mr mrs ms dr prof pr q1 q2 q3 q4
"""


def _forms(verb: str) -> set[str]:
    if verb.endswith("e"):
        return {verb, verb + "s", verb + "d", verb[:-1] + "ing"}
    if verb.endswith("y") and verb[-2] not in "aeou":
        return {verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"}
    plural = verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    doubled = {verb + verb[-1] + "ed", verb + verb[-1] + "ing"} if verb[-1] in "bdgklmnprtv" else set()
    return {verb, plural, verb + "ed", verb + "ing"} | doubled


#: Words, in small letters, of which none makes a name or a phrase.
ROUTINE = frozenset(
    STOP_WORDS.union(
        MONTH_NUMBERS,
        WEEKDAY_SPELLINGS,
        (f"{name.lower()}s" for name in WEEKDAYS),
        (_CALENDAR + _NUMBERS + _FUNCTION + _QUALITIES + _THINGS + _IRREGULAR + _MARKS).split(),
        *map(_forms, _VERBS.split()),
    )
)
#: Words, in small letters, that are no name by themselves.
NAMELESS = ROUTINE.union(_LABELS.split())
#: Function words of German, Dutch, French, Spanish, Italian, Portuguese and the Nordic languages that are no English
#: ones: two of them, and the lists above do not apply to a text.
FOREIGN = frozenset(
    """
    aan aber af al als att au auch auf aus aux av avec bei ce cette che com como con cuando da dal dans dass dat
    de del della dem den der des det deze di dos du een ein eine einen einer el elle em en er es est esta este et
    ett fra för für gli han het hun ich ik ikke il inte ist jag je jeg la las le les leur lo los ma maar mais mas
    med met mit muy más na naar nach ne nel nicht niet noch non nous não och oder og om ook os ou para pas pela
    pero più por på que qui sa se sem ses sich sie sind som sono su sus te til um uma un una und une van von
    voor vous wat wenn wie wij wir wird ya zijn zo zu zum zur är
    """.split()
)
