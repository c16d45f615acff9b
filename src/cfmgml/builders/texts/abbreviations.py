"""Words that end in a full stop which ends no sentence, and words that begin one, in several languages.

All casefolded, abbreviations without their last stop and without spaces (``z. B.`` is ``z.b``).
"""

# Something always follows: a name, an example, what is compared.
_BEFORE_MORE = """
    approx ca cf dr drs e.g eg esp gen gov hon i.e ie incl lt mr mrs ms messrs prof profs rep resp rev sen sgt st viz
    vs bd bspw bzw d.h dipl dr.h.c dr.jur dr.med dr.phil evtl ggf geb hrsg inkl ing nachm rer.nat sog u.u vgl vorm z.b
    z.t z.zt zzgl av boul env m.e mgr mlle mme mmes p.ex dra ee srta sra excmo p.ej cfr dott es sig arch avv bijv d.w.z
    dhr mevr m.in np tj tzn tzw ul акад англ гос доц им лат напр нем пл проф см ср т.е т.к т.н ул франц डॉ
"""
BEFORE_MORE = frozenset(_BEFORE_MORE.split())

# A number follows, or it is a word and ends the sentence.
_BEFORE_NUMBER = """
    abb abs anm app art aufl bde ch chap eq eqn eqs eqns fig figs bl kap lfg no nos nr nrs num núm p pag pág págs
    par pp pt ref refs s sec sect sects suppl tab taf tabl v vol vols z гл п рис с стр табл т
"""
BEFORE_NUMBER = frozenset(_BEFORE_NUMBER.split())

# It may end a sentence: then a word that often begins one follows.
_MAY_END = """
    a.d a.k.a a.m al b.c bros chr co corp dept ed eds etc inc jh jr ltd mio mrd ph.d p.m sp spp sr str subsp u.k u.s
    u.s.a univ usf usw var u.a o.ä u.ä n.chr v.chr tel tsd jan feb apr aug sep sept oct okt nov dec dez janv févr avr
    juil déc ap.j.-c apr.j.-c av.j.-c j.-c enz ecc ee.uu itd itp ud uds вв гг др кв млн млрд н.э обл пр руб т.д т.п
    тыс
"""
MAY_END = frozenset(_MAY_END.split())

_STARTERS = """
    a after all also although an and another as at because before besides both but by conclusion conclusions each
    finally first for from further furthermore he hence her here his how however i if in indeed instead interestingly
    it its many methods moreover most my no not now of on one our over recent recently results several she similarly
    since so some such that the their then there therefore these they this those three thus to together two under
    unlike until using we what when where whereas whether which while who why with you aber alle als am auch auf aus
    bei beim da dabei daher damit dann das dass der deshalb die dies diese dieser dieses dort ein eine er es für hier
    ich ihr im ist jedoch man mit nach nicht nun nur ob seit seine sie sind trotz um und viele vom von während wegen
    weil wenn wie wir zu zum zur après au aussi aux avec c car ce ces cette comme d dans de depuis des donc du elle
    elles en est et il ils je l la le les leur lors mais nous or où par pour puis qui sa sans selon ses si son sous
    sur un une vous al aunque cada como con cuando del después el ella ellos entre era esta este esto estos las lo los
    más muchos nosotros para pero por que se según sin sobre su sus también todo tras una y ya che dal dalla della di
    dopo e gli ma nel nella noi non per questa questo com do dos ela ele em mas na nas nos não o os uma daarom dat dit
    door een het hij ik maar met naar om ook op uit van voor wij ze zij ale dla jest lub nie od po przez są ta te ten
    w z za że а без будет в во все вы да для до его если есть ещё же за и из или их к как когда который которые мы на
    не но о об однако он она они оно от по после потом поэтому при с со так также там то только тогда ты у уже что это
    эта эти этот я затем
"""
STARTERS = frozenset(_STARTERS.split())

# German has a stop after ordinal numbers: what stands before one, and the months after it.
_BEFORE_ORDINAL = """
    am das dem den der des die im jede jeden jeder vom zum zur beim bis ab seit ein einem einen einer eines ihr ihre
    sein seine unser und seinem seinen ihrem ihren
"""
BEFORE_ORDINAL = frozenset(_BEFORE_ORDINAL.split())
_MONTHS = """
    januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert jahrhunderts
    jh weltkrieg weltkriegs
"""
MONTHS = frozenset(_MONTHS.split())
