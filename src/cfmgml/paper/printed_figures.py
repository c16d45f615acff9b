"""The two tables of Wang et al., as printed: mean and standard deviation over 10 folds.

Their Hamming loss and coverage do not follow the usual definitions (a Hamming loss above 1), so they are shown beside
ours and not compared.
"""

from cfmgml.evaluation.presentation import PublishedFigure

GRAPHS = """
cfMGML    .433±.001  .382±.018  .420±.004  .256±.002  .576±.005  .454±.002  .687±.003
HLK       .235±.001  .222±.007  .367±.005  .367±.004  .462±.003  .403±.005  .644±.006
MIMLfast  .410±.004          -  .382±.008          -  .178±.010  .168±.004  .251±.004
SGSL_SVM  .638±.003  .502±.007  .440±.001  .372±.002  .645±.004  .557±.002  .754±.003
Dummy     .145±.003  .145±.003  .361±.006  .361±.006  .265±.003  .325±.005  .354±.004
"""
BAGS = """
one_error
  msrc_v2  .165±.013  .281±.016  .483±.052  .289±.012  .279±.021  .163±.012  .116±.021  .641±.026
  scene    .299±.018  .312±.020  .728±.058  .525±.016  .351±.025  .334±.023          -          -
  voc2012  .252±.016  .325±.016  .320±.074  .447±.013  .258±.027  .261±.034  .255±.023  .306±.021
  dblp_cv  .297±.019  .351±.025  .349±.070  .661±.007  .542±.025  .297±.007  .223±.024  .512±.013
  dblp_ai  .370±.020  .426±.023  .497±.051  .462±.015  .536±.020  .375±.022  .302±.030  .552±.024
  dblp_db  .408±.012  .439±.029  .492±.011  .454±.023  .545±.014  .422±.010  .360±.021  .544±.022
hamming_loss
  msrc_v2  .401±.005  .511±.015  .886±.001  .882±.001  .901±.001  .452±.003  .544±.004 1.320±.003
  scene    .565±.005  .570±.017  .755±.008  .891±.002  .566±.003  .581±.006          -          -
  voc2012  .563±.005  .693±.008  .884±.007  .658±.004  .903±.002  .624±.002  .485±.006  .604±.008
  dblp_cv  .500±.004  .574±.003  .872±.005  .873±.001  .689±.002  .519±.004  .355±.003  .592±.006
  dblp_ai  .482±.006  .581±.006  .870±.002  .519±.002  .603±.001  .517±.002  .371±.001  .581±.003
  dblp_db  .645±.002  .690±.029  .853±.005  .721±.001  .664±.005  .665±.003  .604±.004  .714±.005
coverage
  msrc_v2  .459±.012  .498±.012  .886±.011  .915±.012  .468±.011 1.170±.018  .365±.014  .539±.015
  scene    .877±.015 1.031±.006 1.640±.016  .776±.014  .844±.007 1.120±.013          -          -
  voc2012  .698±.019  .701±.014  .804±.012  .811±.013  .699±.012  .891±.010  .543±.012  .702±.013
  dblp_cv  .304±.016  .409±.007  .305±.007  .935±.015  .452±.018  .590±.019  .217±.017  .637±.018
  dblp_ai  .309±.005  .323±.007  .327±.012  .359±.006  .324±.014  .409±.007  .223±.007  .632±.006
  dblp_db  .373±.009  .375±.012  .407±.015  .432±.009  .386±.010  .612±.014  .335±.009  .589±.012
ranking_loss
  msrc_v2  .080±.007  .108±.005  .225±.005  .261±.002  .107±.004  .503±.004  .041±.002  .230±.005
  scene    .147±.005  .212±.001  .353±.003  .197±.004  .189±.007  .452±.004          -          -
  voc2012  .182±.007  .183±.010  .208±.005  .222±.002  .183±.010  .528±.008  .121±.003  .175±.010
  dblp_cv  .124±.008  .208±.007  .125±.009  .273±.001  .482±.004  .411±.007  .076±.008  .403±.006
  dblp_ai  .137±.002  .171±.004  .169±.004  .201±.003  .570±.003  .366±.009  .064±.006  .424±.005
  dblp_db  .175±.001  .235±.010  .201±.002  .253±.004  .572±.002  .513±.001  .147±.002  .362±.003
average_precision
  msrc_v2  .730±.015  .671±.014  .501±.015  .540±.017  .693±.008  .360±.012  .860±.007  .402±.021
  scene    .811±.018  .754±.015  .541±.014  .527±.008  .770±.006  .520±.016          -          -
  voc2012  .612±.014  .532±.008  .578±.018  .554±.018  .605±.013  .465±.015  .632±.020  .589±.012
  dblp_cv  .719±.006  .655±.007  .662±.019  .478±.016  .477±.012  .487±.019  .781±.017  .531±.016
  dblp_ai  .684±.011  .607±.016  .610±.005  .562±.015  .429±.015  .582±.018  .787±.014  .528±.008
  dblp_db  .648±.009  .612±.014  .583±.017  .556±.010  .452±.018  .471±.013  .754±.011  .514±.009
macro_f1
  msrc_v2  .290±.022  .271±.016  .188±.025  .186±.021  .281±.025  .228±.014  .311±.012  .110±.010
  scene    .339±.019  .291±.011  .301±.014  .175±.029  .311±.014  .282±.016          -          -
  voc2012  .236±.007  .175±.020  .182±.013  .165±.017  .238±.014  .198±.010  .267±.012  .172±.026
  dblp_cv  .258±.011  .202±.014  .201±.024  .146±.020  .244±.011  .225±.017  .301±.018  .168±.024
  dblp_ai  .290±.021  .263±.009  .215±.016  .189±.011  .291±.017  .267±.007  .340±.011  .116±.007
  dblp_db  .275±.014  .244±.018  .243±.012  .201±.024  .278±.008  .223±.009  .335±.022  .121±.013
"""

GRAPH_COLUMNS = ("msrc_v2", "msrc_v2 labels", "voc2012", "voc2012 labels", "dblp_ai", "dblp_db", "dblp_cv")
METHODS = ("cfMGML", "cfMGML(G)", "HLK", "M3MIML", "MIMLfast", "MGMLent", "SGSL_SVM", "Dummy")
NOT_COMPARABLE = frozenset({"hamming_loss", "coverage"})


def paper_figure(column: str | None, method: str | None, level: str, measure: str) -> PublishedFigure | None:
    """What the paper reports, or None where it reports nothing.

    Parameters
    ----------
    column
        A data set of the paper's tables, one of `GRAPH_COLUMNS` or ``"scene"``.
    method
        One of `METHODS`.
    level, measure
        ``"graph"`` has ``"accuracy"`` only; ``"bag"`` the six measures of `cfmgml.metrics.bag_report`.

    Examples
    --------
    >>> paper_figure("msrc_v2", "cfMGML", "bag", "average_precision")
    PublishedFigure(mean=0.73, deviation=0.015)
    >>> paper_figure("scene", "Dummy", "bag", "average_precision") is None
    True
    """
    return _FIGURES.get((column, method, level, measure))


def _read() -> dict[tuple[str | None, str | None, str, str], PublishedFigure]:
    texts: dict[tuple[str | None, str | None, str, str], str] = {}
    for method, *cells in map(str.split, GRAPHS.strip().splitlines()):
        texts |= {
            (column, method, "graph", "accuracy"): cell for column, cell in zip(GRAPH_COLUMNS, cells, strict=True)
        }
    measure = ""
    for name, *cells in map(str.split, BAGS.strip().splitlines()):
        if cells:
            texts |= {(name, method, "bag", measure): cell for method, cell in zip(METHODS, cells, strict=True)}
        else:
            measure = name
    return {key: PublishedFigure(*map(float, text.split("±"))) for key, text in texts.items() if text != "-"}


_FIGURES = _read()
