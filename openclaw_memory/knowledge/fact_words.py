"""The word lists of the rules: what is an attribute, what is no name, what is no statement."""

from __future__ import annotations

#: Attributes that ``Key: value`` may state without being set in bold; the last word of a longer one counts too.
ATTRIBUTES = frozenset(
    """
    account address admin age allergies allergy anniversary architecture author backend backup bank bike birthday
    birthplace board book born boss branch brand browser bucket budget building camera capacity capital car cat cell
    channel children city client cluster colleague colour color commit company config contact contract country cpu
    currency customer database daughter deadline department desk device diet director disk display distro doctor dog
    domain driver due duration editor email e-mail employer encryption endpoint engine environment filesystem
    firmware font format framework frequency frontend gateway gender gpu group handle hardware height hobbies hobby
    home host hosting hostname hours husband ide image instrument interface internet ip job kernel key keyboard kids
    language languages laptop lead level licence license lives location login mac machine mail maintainer maker
    manager manufacturer member members memory mobile model monitor motto name nationality neighbour network nickname
    number occupation office os owner package parents partner pet pets phone phrase plan plate platform policy port
    price priority processor profession project pronouns protocol provider ram rate region release repo repository
    residence role room router runtime salary schedule school schema sensor serial series server service shell sister
    brother size software son song spouse stack stage state status storage street supplier team tech telephone
    terminal theme threshold time-zone timezone tool topology town type university uptime url user username vehicle
    vendor version vram warranty website weight wife workplace zone
    """.split()
)

#: Labels that open a remark rather than name an attribute.
NOT_KEYS = frozenset(
    """
    action actions agenda agreed also answer asked attendees aside background because before blocked blocker blockers
    bonus bug but buy call candidates caution caveat cause check chore chores comment conclusion cons context
    counter-idea date decided decision decisions description details discussed discussion doing done edit else error
    example examples exception fact fallback fix finding fixed follow-up followup for from goal goals how however hint
    idea ideas if impact important in info insight issue issues item later learned lesson lessons link links list
    look maybe mood mood-of-the-day monday morning tuesday wednesday thursday friday saturday sunday next note notes
    now ok on open option options or outcome plan plans problem problems progress pros proposal question questions
    quote read reason reasons recap rejected remark remember reminder result results retro risk risks rule scope
    section see seen since so solution standup start status-quo step steps still story summary symptom task tasks
    tasklist text then think this thought thoughts tip tldr to today todo todos tomorrow tonight topic topics total
    tried update updates urgent usage used verdict waiting warning was week what when where which who why win wins
    with worked worse wrong yes yesterday evening afternoon night noon lunch dinner breakfast weekend january february
    march april may june july august september october november december
    """.split()
)

#: Headings whose items each name a thing of their own: ``- **Mira**: designer``.
COLLECTIONS = frozenset(
    """
    accounts apps cats channels children clients colleagues components computers contacts containers customers
    databases devices dogs environments family folks friends hosts household kids libraries machines members models
    neighbours neighbors nodes packages partners people persons pets places products projects repos repositories
    roles rooms servers services sites stakeholders suppliers systems team teammates teams tools users vendors vehicles
    """.split()
)

#: Headings that say how their items concern the one whom the heading above, or the file, is about.
TRANSPARENT = frozenset(
    """
    about address attributes availability basics bio contact data details dislikes facts favourites favorites general
    identity info information key likes metadata overview personal preferences profile properties setup spec specs
    specification specifications configuration config settings summary
    """.split()
)

#: Single words that head a part of a note without being anybody's or anything's name.
NOT_TOPICS = frozenset(
    """
    actions agenda appendix archive backlog blocked blockers bugs changelog chat chores conclusion context
    conversation decision decisions diary discussion done errands evening events example examples experiments
    feedback finance follow-ups followups food goals habits health history ideas inbox incident index insights
    introduction issues journal later learnings lessons links log logs lunch dinner breakfast meeting meetings memory
    misc miscellaneous monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december morning afternoon night music news next note notes observations
    open other plan plans private progress questions quotes reading recipes references reminders research results
    retro review risks routine routines rules session sessions shopping sleep sport standup status stories summary
    tasks thoughts threads tips todo todos today tomorrow topics travel troubleshooting updates upcoming weather week
    weekend work yesterday heartbeat soul tools bootstrap agents readme
    """.split()
)

PREFERENCES = {"preferences": "prefers", "preference": "prefers", "likes": "likes", "favourites": "likes",
               "favorites": "likes", "dislikes": "dislikes"}  # fmt: skip

#: Columns that name what their row is about.
ENTITY_COLUMNS = frozenset(
    """
    account app application client component contact container customer database device environment host hostname
    machine member model name node package person pet project repo repository room server service site supplier
    system team tool user vehicle vendor who
    """.split()
)
KEY_COLUMNS = frozenset("attribute field key name parameter property setting what item detail".split())
VALUE_COLUMNS = frozenset("value values setting answer details detail content".split())
#: Columns that say when or how it was noted rather than what is so.
NOTING_COLUMNS = frozenset(
    "date day time when note notes comment comments remark remarks reason why id no nr mood source see link".split()
)

#: A statement behind one of these is none, or is not about now.
HEDGES = frozenset(
    """
    if unless whether would could might may maybe perhaps probably possibly should supposedly apparently hopefully
    imagine wish wishes hope hopes hoped not never neither nor no hardly barely cannot can't isn't aren't don't
    doesn't won't wouldn't allegedly rumoured rumored pretend pretends suppose supposing assume assuming almost nearly
    once when until before after while although though because since except unlike
    """.split()
)

#: What a sentence may begin with that is not the name of its subject.
NOT_NAMES = frozenset(
    """
    a about above after again all almost also although always am an and another any anybody anyone anything are as at
    be because been before being below best better between both but by can could did do does done during each either
    else enough even ever every everybody everyone everything few finally first for from good great had has have he
    hello her here hers hey hi his how however i i'm if in indeed instead into is it it's its just last later least
    less let like likes little many maybe me meanwhile mine monday more most much must my myself neither never next no
    nobody none nor not nothing now of off oh ok okay on once one only or other others otherwise our ours out over own
    people perhaps please prefers reason rest right same she should since so some somebody someone something sometimes
    somewhere soon still such sure than thank thanks that that's the their theirs them then there there's these they
    this those though three through thus to today together tomorrow tonight too two under unless until up upon us very
    was wait we we're well were what what's whatever when where whether which while who who's whoever whole whom whose
    why will with within without wow would yeah yep yes yesterday yet you you're your yours
    tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december morning afternoon evening night week weekend month year idea cause result problem
    question answer note step rule fix update status decision reminder warning example exception
    """.split()
)

#: Connectors before a subject.
OPENERS = frozenset("and but so also anyway plus well yes yeah oh ok okay btw fyi currently now today then".split())
ADVERBS = frozenset(
    """
    now currently still also usually always really generally normally mostly just actually definitely officially
    """.split()
)

#: States that a ticket, a project or a service can be in.
STATES = frozenset(
    """
    abandoned active approved archived available blocked broken cancelled canceled closed complete completed
    decommissioned deferred deployed deprecated done down draft dropped fixed frozen finished live merged offline
    online open paused pending planned postponed published ready rejected released resolved retired running scheduled
    shelved shipped stable stalled stuck superseded suspended up
    """.split()
)
TWO_WORD_STATES = frozenset({"in progress", "in review", "on hold", "in production", "in beta", "not started",
                             "up to", "out of", "work in"}) - {"up to", "out of", "work in"}  # fmt: skip

#: What a person can be to another, or by trade: behind "is a" they make a person of a capitalised word.
ROLES = frozenset(
    """
    accountant actor admin administrator agent analyst architect artist assistant aunt author baker boss boyfriend
    brother builder carpenter ceo chef child client coach colleague consultant contractor contact cousin coworker cto
    cofounder customer dad daughter dentist designer developer director doctor driver editor electrician employee
    engineer expert father fiancé fiancée flatmate founder friend girlfriend grandfather grandmother husband intern
    investor journalist landlord lawyer lead librarian maintainer manager mathematician mechanic mentor midwife mom
    mother mum musician neighbor neighbour nephew niece nurse owner painter parent partner pharmacist photographer
    physicist physiotherapist pilot plumber producer professor programmer researcher roommate scientist secretary
    sibling singer sister son spouse student teacher technician therapist tutor uncle vet wife writer
    cat dog parrot rabbit hamster horse tabby terrier labrador poodle puppy kitten
    """.split()
)

#: What follows a name and ``'s`` without being an attribute that has a value.
NOT_ATTRIBUTES = frozenset(
    """
    advice answer approach argument attitude behaviour belief case comment complaint concern day dream energy eye eyes
    face feedback feeling goal guess hope house idea impression joke job-search life look message method mind mistake
    mood move opinion part performance plan point problem promise question quote reaction reason request response
    rule side smile story suggestion support take talk theory thing thought time turn verdict view voice wish word
    words work writing work-life journey painting paintings art passion
    """.split()
)

#: What an object is that only passes judgement.
JUDGEMENTS = frozenset(
    """
    amazing awesome awful bad beautiful best better big bigger boring brilliant broken clear close cool crazy cute
    different difficult done easy enough excellent fantastic fast fine funny gone good gorgeous great hard here
    important impressive incredible inspiring interesting late lovely nice okay ok old perfect possible powerful
    ready right sad same slow small so special strange such sure sweet terrible there tough true unbelievable
    understandable unique useful very weird welcome wonderful worse worth wrong real really too tired new back over
    like as about full also all just more most quite pretty rather somewhat kind sort supposed going
    """.split()
)

#: The first word of an object that points elsewhere.
POINTING = frozenset(
    "it this that these those them him her me us you your yours his their its my so such what how when where why "
    "our ours who there here one ones being having seeing hearing doing going".split()
)

PLACEHOLDERS = frozenset(
    "tbd tba todo none n/a na unknown unclear pending ? - – — … ... yes no true false nothing empty optional same "
    "see xxx x open later".split()
)

MONTHS_AND_DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december".split()
)

#: One of these is in every sentence that the rules can read.
TRIGGERS = frozenset(
    """
    is live lives Lives work works Works Work prefer prefers Prefers like likes Likes love loves Loves enjoys
    Enjoys dislikes Dislikes hates Hates goes Goes moved relocated born decided Decided Timezone timezone speaks Speaks
    runs Runs belongs allergic I'm I’m am was closed. done. merged. released.
    closed done merged released resolved. fixed. open. live.
    """.split()
)
