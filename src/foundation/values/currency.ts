/** The currencies whose smallest unit is not a hundredth, with blanks between them, by its decimals (ISO 4217, list one). */
export const byDecimals = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

const decimals = new Map<string, number>()
for (const [count, codes] of Object.entries(byDecimals)) {
  for (const code of codes.split(' ')) decimals.set(code, Number(count))
}

/**
 * Returns how many decimals a sum in a currency has (ISO 4217): 2 for EUR, 3 for KWD, 0 for JPY; 2 for a text that is no code.
 * `Intl` is not asked, because it follows what people write by hand, which differs from release to release and hides what is
 * owed: it has none for HUF and COP, whose hundredths programs send and count.
 */
export function decimalsOf(currency: string): number {
  return decimals.get(currency) ?? 2
}
