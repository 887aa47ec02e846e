/** Names of the entities of Latin-1, which browsers read without their semicolon too. */
export const latin1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'.split(
    ' ',
  )
const entities = new Map<string, string>([
  ...latin1.map((name, at) => [name, String.fromCharCode(0xa0 + at)] as const),
  ...Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    ndash: '–',
    mdash: '—',
    lsquo: '‘',
    rsquo: '’',
    sbquo: '‚',
    ldquo: '“',
    rdquo: '”',
    bdquo: '„',
    bull: '•',
    hellip: '…',
    trade: '™',
    euro: '€',
    dagger: '†',
    prime: '′',
    Prime: '″',
    minus: '−',
    larr: '←',
    rarr: '→',
    le: '≤',
    ge: '≥',
    ne: '≠',
    infin: '∞',
    OElig: 'Œ',
    oelig: 'œ',
    Scaron: 'Š',
    scaron: 'š',
    ensp: '\u2002',
    emsp: '\u2003',
    thinsp: '\u2009',
    zwnj: '\u200c',
    zwj: '\u200d',
  }),
])

/** The character that an entity is, or the entity where this does not know it. A character of two units is itself. */
export function entityIn(text: string): string {
  if (!text.startsWith('&')) return text
  const name = text.slice(1, -1)
  if (!name.startsWith('#')) return entities.get(name) ?? text
  const point = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10)
  // Browsers read 128 to 159 as Windows does; those and surrogates are rare enough.
  const isPlain =
    point >= 32 && point <= 0x10ffff && !(point >= 127 && point < 160) && !(point >= 0xd800 && point <= 0xdfff)
  return isPlain ? String.fromCodePoint(point) : text
}

const entityPattern = /&(?:#\d{1,7}|#[Xx][\dA-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});/g

/** The text with the characters that its entities are. */
export function decoded(text: string): string {
  return text.replaceAll(entityPattern, entityIn)
}
