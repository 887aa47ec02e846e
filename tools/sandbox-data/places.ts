import { between, digits, happens, oneOf, personName, streetName } from './chance.ts'
import { plainLetters } from './shelves.ts'

/** Where customers live. Cities, codes and the shapes of addresses are real; streets, numbers and people are not. */

export interface Address {
  readonly firstName: string
  readonly lastName: string
  readonly address1: string
  readonly address2: string
  readonly city: string
  readonly state: string
  readonly zip: string
  readonly country: string
  readonly phone: string
}

interface Country {
  readonly code: string
  /** So many customers out of 100. */
  readonly share: number
  /** City, state as the wire has it, postal code with `#` for any digit and `@` for any letter. */
  readonly cities: readonly (readonly [city: string, state: string, zip: string])[]
  readonly phone: string
  /** Absent: English names and streets. */
  readonly local?: {
    readonly firstNames: string
    readonly lastNames: string
    readonly streets: string
    readonly numberLast: boolean
  }
}

const countries: readonly Country[] = [
  {
    code: 'US',
    share: 64,
    cities: [
      ['New York', 'NY', '100##'],
      ['Buffalo', 'NY', '142##'],
      ['Newark', 'NJ', '071##'],
      ['Hartford', 'CT', '061##'],
      ['Philadelphia', 'PA', '191##'],
      ['Boston', 'MA', '021##'],
      ['Portland', 'ME', '041##'],
      ['Burlington', 'VT', '054##'],
      ['Atlanta', 'GA', '303##'],
      ['Tampa', 'FL', '336##'],
      ['Chicago', 'IL', '606##'],
      ['Columbus', 'OH', '432##'],
      ['Madison', 'WI', '537##'],
      ['Minneapolis', 'MN', '554##'],
      ['Austin', 'TX', '787##'],
      ['Denver', 'CO', '802##'],
      ['Santa Fe', 'NM', '875##'],
      ['Seattle', 'WA', '981##'],
      ['Eugene', 'OR', '974##'],
      ['Oakland', 'CA', '946##'],
    ],
    phone: '(2##) 555-01##',
  },
  {
    code: 'CA',
    share: 9,
    cities: [
      ['Toronto', 'ON', 'M5V #@#'],
      ['Vancouver', 'BC', 'V6B #@#'],
      ['Calgary', 'AB', 'T2P #@#'],
      ['Halifax', 'NS', 'B3J #@#'],
    ],
    phone: '(2##) 555-01##',
  },
  {
    code: 'GB',
    share: 9,
    cities: [
      ['Bristol', '', 'BS1 #@@'],
      ['Leeds', '', 'LS2 #@@'],
      ['Edinburgh', '', 'EH1 #@@'],
      ['Norwich', '', 'NR2 #@@'],
    ],
    phone: '+44 1632 960###',
  },
  {
    code: 'DE',
    share: 6,
    cities: [
      ['München', '', '8033#'],
      ['Köln', '', '5066#'],
      ['Leipzig', '', '0410#'],
    ],
    phone: '+49 30 23125 ###',
    local: {
      firstNames: 'Jürgen Anke Björn Käthe Lukas Sabine Matthias Frauke Jonas Ulrike',
      lastNames: 'Müller Schäfer Weiß Krüger Lindner Groß Hoffmann Vogt Böhm Petersen',
      streets: 'Gartenstraße|Lindenallee|Am Mühlbach|Schillerstraße|Große Gasse',
      numberLast: true,
    },
  },
  {
    code: 'FR',
    share: 5,
    cities: [
      ['Lyon', '', '6900#'],
      ['Nantes', '', '4400#'],
      ['Saint-Étienne', '', '4200#'],
    ],
    phone: '+33 1 99 00 ## ##',
    local: {
      firstNames: 'Zoé François Hélène Théo Inès Gaël Aurélie Benoît Maëlle Luc',
      lastNames: 'Lefèvre Moreau Gérard Côté Dubois Rousseau Perrin Legrand Noël Marchand',
      streets: 'rue des Lilas|avenue Jean-Jaurès|rue de l’Église|place du Marché',
      numberLast: false,
    },
  },
  {
    code: 'AU',
    share: 4,
    cities: [
      ['Melbourne', 'VIC', '300#'],
      ['Hobart', 'TAS', '700#'],
    ],
    phone: '+61 2 5550 ####',
  },
  {
    code: 'ES',
    share: 3,
    cities: [
      ['Málaga', '', '2900#'],
      ['A Coruña', '', '1500#'],
    ],
    phone: '+34 900 000 ###',
    local: {
      firstNames: 'María José Begoña Iñigo Lucía Ángel Nuria Rubén Sofía Raúl',
      lastNames: 'Muñoz García Peña Ibáñez Núñez Ortega López Cañas Sáez Vidal',
      streets: 'Calle Mayor|Avenida de la Constitución|Calle del Ángel|Plaza de España',
      numberLast: true,
    },
  },
]

export function makeAddress(): Address {
  const country = anyCountry()
  const [city, state, zip] = oneOf(country.cities)
  return {
    ...nameIn(country),
    address1: streetIn(country),
    address2: happens(20) ? `${oneOf(['Apt', 'Unit', 'Floor'])} ${between(1, 40)}` : '',
    city,
    state,
    zip: filled(zip),
    country: country.code,
    phone: filled(country.phone),
  }
}

/** Another person at another address of the same town: where a gift goes. */
export function neighbourOf(address: Address): Address {
  const country = countries.find(({ code }) => code === address.country)
  if (!country) throw new Error(`No customer lives in ${address.country}`)
  return { ...address, ...nameIn(country), address1: streetIn(country), address2: '', phone: filled(country.phone) }
}

/** `Zoé Lefèvre` → `zoe.lefevre`: the part of an address before the @. */
export function mailName({ firstName, lastName }: Pick<Address, 'firstName' | 'lastName'>): string {
  return plainLetters(`${firstName}.${lastName}`)
    .toLowerCase()
    .replace(/[^a-z.]/g, '')
}

function anyCountry(): Country {
  let left = between(1, 100)
  for (const country of countries) {
    left -= country.share
    if (left <= 0) return country
  }
  throw new Error('The shares of the countries add up to 100')
}

function nameIn({ local }: Country): { firstName: string; lastName: string } {
  if (!local) return personName()
  return { firstName: oneOf(local.firstNames.split(' ')), lastName: oneOf(local.lastNames.split(' ')) }
}

function streetIn({ local }: Country): string {
  const number = between(1, 290)
  if (!local) return `${number} ${streetName()}`
  const street = oneOf(local.streets.split('|'))
  return local.numberLast ? `${street} ${number}` : `${number} ${street}`
}

/** Without the letters that postal codes avoid. */
function filled(pattern: string): string {
  return pattern.replace(/#/g, () => digits(1)).replace(/@/g, () => oneOf('ABEGHJLNPRSTWXYZ'.split('')))
}
