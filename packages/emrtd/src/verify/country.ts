/** ISO 3166-1: three letters, as the MRZ has them, and two, as certificates have them. */
const iso3166 =
  "AFG:AF ALB:AL DZA:DZ ASM:AS AND:AD AGO:AO AIA:AI ATA:AQ ATG:AG ARG:AR ARM:AM ABW:AW AUS:AU AUT:AT AZE:AZ BHS:BS BHR:BH " +
  "BGD:BD BRB:BB BLR:BY BEL:BE BLZ:BZ BEN:BJ BMU:BM BTN:BT BOL:BO BES:BQ BIH:BA BWA:BW BVT:BV BRA:BR IOT:IO BRN:BN BGR:BG " +
  "BFA:BF BDI:BI CPV:CV KHM:KH CMR:CM CAN:CA CYM:KY CAF:CF TCD:TD CHL:CL CHN:CN CXR:CX CCK:CC COL:CO COM:KM COD:CD COG:CG " +
  "COK:CK CRI:CR CIV:CI HRV:HR CUB:CU CUW:CW CYP:CY CZE:CZ DNK:DK DJI:DJ DMA:DM DOM:DO ECU:EC EGY:EG SLV:SV GNQ:GQ ERI:ER " +
  "EST:EE SWZ:SZ ETH:ET FLK:FK FRO:FO FJI:FJ FIN:FI FRA:FR GUF:GF PYF:PF ATF:TF GAB:GA GMB:GM GEO:GE DEU:DE GHA:GH GIB:GI " +
  "GRC:GR GRL:GL GRD:GD GLP:GP GUM:GU GTM:GT GGY:GG GIN:GN GNB:GW GUY:GY HTI:HT HMD:HM VAT:VA HND:HN HKG:HK HUN:HU ISL:IS " +
  "IND:IN IDN:ID IRN:IR IRQ:IQ IRL:IE IMN:IM ISR:IL ITA:IT JAM:JM JPN:JP JEY:JE JOR:JO KAZ:KZ KEN:KE KIR:KI PRK:KP KOR:KR " +
  "KWT:KW KGZ:KG LAO:LA LVA:LV LBN:LB LSO:LS LBR:LR LBY:LY LIE:LI LTU:LT LUX:LU MAC:MO MDG:MG MWI:MW MYS:MY MDV:MV MLI:ML " +
  "MLT:MT MHL:MH MTQ:MQ MRT:MR MUS:MU MYT:YT MEX:MX FSM:FM MDA:MD MCO:MC MNG:MN MNE:ME MSR:MS MAR:MA MOZ:MZ MMR:MM NAM:NA " +
  "NRU:NR NPL:NP NLD:NL NCL:NC NZL:NZ NIC:NI NER:NE NGA:NG NIU:NU NFK:NF MKD:MK MNP:MP NOR:NO OMN:OM PAK:PK PLW:PW PSE:PS " +
  "PAN:PA PNG:PG PRY:PY PER:PE PHL:PH PCN:PN POL:PL PRT:PT PRI:PR QAT:QA REU:RE ROU:RO RUS:RU RWA:RW BLM:BL SHN:SH KNA:KN " +
  "LCA:LC MAF:MF SPM:PM VCT:VC WSM:WS SMR:SM STP:ST SAU:SA SEN:SN SRB:RS SYC:SC SLE:SL SGP:SG SXM:SX SVK:SK SVN:SI SLB:SB " +
  "SOM:SO ZAF:ZA SGS:GS SSD:SS ESP:ES LKA:LK SDN:SD SUR:SR SJM:SJ SWE:SE CHE:CH SYR:SY TWN:TW TJK:TJ TZA:TZ THA:TH TLS:TL " +
  "TGO:TG TKL:TK TON:TO TTO:TT TUN:TN TUR:TR TKM:TM TCA:TC TUV:TV UGA:UG UKR:UA ARE:AE GBR:GB USA:US UMI:UM URY:UY UZB:UZ " +
  "VUT:VU VEN:VE VNM:VN VGB:VG VIR:VI WLF:WF ESH:EH YEM:YE ZMB:ZM ZWE:ZW ALA:AX";

/**
 * Codes of Doc 9303 part 3 that ISO does not have, and states whose documents another state's authority signs. Each names the certificate
 * countries that may stand behind the code.
 */
const specialCodes: ReadonlyMap<string, readonly string[]> = new Map([
  ["D", ["DE"]],
  // British nationals of every kind; Bermuda signs its own.
  ["GBD", ["GB", "BM"]],
  ["GBN", ["GB"]],
  ["GBO", ["GB"]],
  ["GBP", ["GB"]],
  ["GBS", ["GB"]],
  ["BMU", ["BM", "GB"]],
  ["IMN", ["IM", "GB"]],
  ["GGY", ["GG", "GB"]],
  ["JEY", ["JE", "GB"]],
  ["GIB", ["GI", "GB"]],
  ["HKG", ["HK", "CN"]],
  ["MAC", ["MO", "CN"]],
  ["RKS", ["KS", "XK", "RK"]],
  ["XKX", ["XK", "KS"]],
  ["EUE", ["EU"]],
  ["UNO", ["UN"]],
  ["UNA", ["UN"]],
  ["UNK", ["UN"]],
  ["XOM", ["XO", "XM"]],
  ["XPO", ["XP"]],
  ["UTO", ["UT"]],
]);

const isoByThree: ReadonlyMap<string, string> = new Map(
  iso3166.split(" ").map((pair) => [pair.slice(0, 3), pair.slice(4)]),
);

/**
 * The countries, in upper case, that the certificates of a document may name when its MRZ names this issuing state. A certificate may
 * also spell out the three letters themselves.
 */
export function certificateCountriesOf(issuingState: string): readonly string[] {
  const state = issuingState.replaceAll("<", "").trim().toUpperCase();
  const iso = isoByThree.get(state);
  const countries = specialCodes.get(state) ?? (iso === undefined ? [] : [iso]);
  return state === "" ? [] : [...countries, state];
}
