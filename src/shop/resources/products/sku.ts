// SKUs are copied from web pages and spreadsheets, with characters that nobody sees.

/**
 * The form in which a SKU is stored: without format characters (Unicode category Cf, such as a zero-width space or a mark of
 * direction) and white space at its ends, in NFC.
 */
export function plainSku(given: string): string {
  return plainSuffix(given).trim()
}

/** The same for an end that is appended to a SKU, and may begin with a blank. */
export function plainSuffix(given: string): string {
  return given
    .replaceAll(/\p{Cf}/gu, '')
    .normalize('NFC')
    .trimEnd()
}

/**
 * The texts by which the SKU that is meant may be stored: as it is given, because earlier versions stored SKUs so, in its plain form,
 * and in NFD.
 */
export function skuForms(given: string): readonly string[] {
  const plain = plainSku(given)
  return [...new Set([given.trim(), plain, plain.normalize('NFD')])]
}

/** The same for all spellings of a SKU. */
export function skuKey(text: unknown): string {
  return plainSku(String(text ?? '')).toLowerCase()
}
