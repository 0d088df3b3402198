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

type CountryException = {
  /** As in the zone, without fillers. */
  readonly state: string;
  /** The certificate countries, in upper case, that may sign for it. */
  readonly countries: readonly string[];
  /** Where it is specified or was seen. */
  readonly source: string;
};

const codes = "Doc 9303 part 3, section 5";
const britain =
  "Doc 9303 part 3, section 5: kinds of British nationals; His Majesty's Passport Office signs for all";
const islands =
  "ISO 3166-1; passports of the Crown dependencies and Gibraltar are made and signed in the United Kingdom";

/**
 * Codes of Doc 9303 part 3 that ISO lacks, states that write another country into their certificates, and
 * states whose documents another state's authority signs.
 */
export const countryExceptions: readonly CountryException[] = [
  { state: "D", countries: ["DE"], source: `${codes}: Germany is D and not DEU` },
  {
    state: "GBD",
    countries: ["GB", "BM"],
    source: `${britain}; Bermuda has an authority of its own, linked to that of GB (German master list of May 2026)`,
  },
  { state: "GBN", countries: ["GB"], source: britain },
  { state: "GBO", countries: ["GB"], source: britain },
  { state: "GBP", countries: ["GB"], source: britain },
  { state: "GBS", countries: ["GB"], source: britain },
  {
    state: "BMU",
    countries: ["BM", "GB"],
    source: "CSCA of Bermuda (C=BM), linked to that of GB: German master list of May 2026",
  },
  { state: "IMN", countries: ["IM", "GB"], source: islands },
  { state: "GGY", countries: ["GG", "GB"], source: islands },
  { state: "JEY", countries: ["JE", "GB"], source: islands },
  { state: "GIB", countries: ["GI", "GB"], source: islands },
  {
    state: "HKG",
    countries: ["HK", "CN"],
    source: "CSCA of Hong Kong (C=CN): German and Dutch master lists of 2026",
  },
  {
    state: "MAC",
    countries: ["MO", "CN"],
    source: "CSCA of Macao (C=CN): German and Dutch master lists of 2026",
  },
  {
    state: "RKS",
    countries: ["KS", "XK", "RK"],
    source:
      "CSCA of Kosovo (C=KS): German and Dutch master lists of 2026; XK is the code of the European Commission",
  },
  {
    state: "XKX",
    countries: ["XK", "KS"],
    source: "Kosovo by the code of the European Commission and the World Bank",
  },
  {
    state: "EUE",
    countries: ["EU"],
    source: `${codes}; CSCA of the laissez-passer of the European Union (C=EU): master lists of 2026`,
  },
  {
    state: "UNO",
    countries: ["UN", "ZZ"],
    source: `${codes}; CSCA of the United Nations (C=UN): master lists of 2026; their older one had C=ZZ`,
  },
  { state: "UNA", countries: ["UN", "ZZ"], source: `${codes}: specialised agencies of the United Nations` },
  {
    state: "UNK",
    countries: ["UN", "ZZ"],
    source: `${codes}: United Nations Interim Administration in Kosovo`,
  },
  { state: "XOM", countries: ["XO", "XM"], source: `${codes}: Sovereign Military Order of Malta` },
  { state: "XPO", countries: ["XP"], source: `${codes}: Interpol` },
  { state: "UTO", countries: ["UT"], source: `${codes}: Utopia, the state of specimens` },
];

const specialCodes: ReadonlyMap<string, readonly string[]> = new Map(
  countryExceptions.map(({ state, countries }) => [state, countries]),
);

const isoByThree: ReadonlyMap<string, string> = new Map(
  iso3166.split(" ").map((pair) => [pair.slice(0, 3), pair.slice(4)]),
);

const countriesByState: ReadonlyMap<string, readonly string[]> = new Map(
  [...isoByThree.keys(), ...specialCodes.keys()].map((state) => {
    const iso = isoByThree.get(state);
    const countries = specialCodes.get(state) ?? (iso === undefined ? [] : [iso]);
    return [state, [...countries, state]];
  }),
);

/** Two letters or three, the country is the same: a few certificates write the three. */
export function sameCountry(one: string, other: string): boolean {
  const short = (code: string) => isoByThree.get(code) ?? code;
  return short(one) === short(other);
}

/**
 * The countries, in upper case, that a document's certificates may name for this issuing state in the MRZ. A
 * certificate may also use the three letters.
 */
export function certificateCountriesOf(issuingState: string): readonly string[] {
  const state = issuingState.replaceAll("<", "").toUpperCase();
  return countriesByState.get(state) ?? (state === "" ? [] : [state]);
}

const threeByIso: ReadonlyMap<string, string> = new Map([...isoByThree].map(([three, two]) => [two, three]));

/** Two-letter codes whose code in Doc 9303 part 3 differs from ISO 3166-1, or that ISO does not assign. */
const ownCodes: ReadonlyMap<string, string> = new Map([
  ["DE", "D"],
  ["EU", "EUE"],
  ["UN", "UNO"],
  ["UT", "UTO"],
  ["XK", "RKS"],
]);

/** The code that the MRZ has for a country of ISO 3166-1 alpha-2; null for letters that name none. */
export function icaoCodeOf(alpha2: string): string | null {
  return ownCodes.get(alpha2) ?? threeByIso.get(alpha2) ?? null;
}
