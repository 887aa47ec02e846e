/**
 * The 38 country names of the Online Retail file and their ISO 3166-1 codes (`EU` is a reserved code).
 * `Unspecified` says nothing. `Channel Islands` has no code of its own (Jersey and Guernsey have one each),
 * so it is absent here and stays a name.
 */
const codes: Readonly<Record<string, string>> = {
  Australia: 'AU',
  Austria: 'AT',
  Bahrain: 'BH',
  Belgium: 'BE',
  Brazil: 'BR',
  Canada: 'CA',
  Cyprus: 'CY',
  'Czech Republic': 'CZ',
  Denmark: 'DK',
  EIRE: 'IE',
  'European Community': 'EU',
  Finland: 'FI',
  France: 'FR',
  Germany: 'DE',
  Greece: 'GR',
  'Hong Kong': 'HK',
  Iceland: 'IS',
  Israel: 'IL',
  Italy: 'IT',
  Japan: 'JP',
  Lebanon: 'LB',
  Lithuania: 'LT',
  Malta: 'MT',
  Netherlands: 'NL',
  Norway: 'NO',
  Poland: 'PL',
  Portugal: 'PT',
  RSA: 'ZA',
  'Saudi Arabia': 'SA',
  Singapore: 'SG',
  Spain: 'ES',
  Sweden: 'SE',
  Switzerland: 'CH',
  'United Arab Emirates': 'AE',
  'United Kingdom': 'GB',
  Unspecified: '',
  USA: 'US',
}

/** The shortest bound of a country field on the wire (Order.BillingCountry, Shipment.ShipmentCountry). */
const lengthMax = 50

/** The wire's country for a name of the file: its ISO code; `''` for `Unspecified`; a name without a code as it is. */
export function countryCode(name: string): string {
  return codes[name] ?? name.slice(0, lengthMax)
}
