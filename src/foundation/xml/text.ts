export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'

/** What the root of every answer declares, in REST and in cartAPI. */
export const SCHEMA_NAMESPACES =
  'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"'

/** Whether XML 1.0 allows the character; NaN: no. */
export function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
}

const forbidden = String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff`
const anyForbidden = new RegExp(`[${forbidden}]`)
const anySpecial = new RegExp(`[&<>\\r${forbidden}]`)
const special = new RegExp(anySpecial, 'g')
const unread = new RegExp(`[${forbidden}]`, 'g')

/** Whether a document holds a character that XML 1.0 does not allow. */
export function hasForbidden(document: string): boolean {
  return anyForbidden.test(document)
}

/** A text as the content of an element: markup escaped, characters that XML 1.0 does not allow left out. */
export function escapeXml(text: string): string {
  // Most texts hold no such character; testing first takes half the time.
  return anySpecial.test(text) ? text.replace(special, (character) => escapes[character] ?? '') : text
}

/** A text as the value of an attribute in double quotes. */
export function escapeAttribute(text: string): string {
  return escapeXml(text).replaceAll('"', '&quot;')
}

/** A text as programs read it from XML, which may write line ends back as they please. */
export function shownInXml(text: string): string {
  return text.replace(unread, '').replace(/\r\n?/g, '\n')
}

/** A bare carriage return would be read as a line feed. */
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' }

/** White space, in a regular expression. */
export const SPACE = '[ \\t\\r\\n]'

const nameStart =
  String.raw`:A-Z_a-z\xC0-\xD6\xD8-\xF6\xF8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F\u2C00-\u2FEF` +
  String.raw`\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\u{10000}-\u{EFFFF}`
/** The name of an element or attribute, in a regular expression with the flag `u`. */
export const NAME = String.raw`[${nameStart}][${nameStart}\-.0-9\xB7\u0300-\u036F\u203F-\u2040]*`

/** The value of an attribute as it counts, before references are read. */
export function normalisedAttribute(value: string): string {
  return value.replace(/[\t\n]/g, ' ')
}
