import { Readable } from 'node:stream'
import { addOrder, addPieces, emptyFigures, type RetailFigures } from './figures.ts'

/*
 * A file of the shape of Online Retail, with the oddities that were met in it, for machines that do not have it:
 * blank customers and descriptions, several spellings of a name, stock codes in two cases, codes that are not goods,
 * returns (C…), bad-debt adjustments (A…) with negative prices, stock corrections without a price and with warehouse
 * notes for descriptions, free orders, prices of a tenth of a penny, doubled lines, lines of one invoice apart from
 * each other and minutes apart, quotes, commas and non-ASCII characters, orders of one line and of 500.
 * The same size and seed give the same bytes everywhere.
 */

export interface RetailSize {
  /** At least 100, so that every oddity has its place. */
  readonly invoices: number
  /** How many stock codes there are to choose from; two more come with the oddities. */
  readonly products: number
  /** How many customers there are to choose from. */
  readonly customers: number
  readonly seed: number
}

/** Loads in seconds. */
export const smallYear: RetailSize = { invoices: 600, products: 400, customers: 150, seed: 1 }
/** About as large as the real one. */
export const fullYear: RetailSize = { invoices: 25_900, products: 3_970, customers: 4_400, seed: 1 }

/** A source for convertRetail and computeFigures. */
export function generatedSource(size: RetailSize): () => Readable {
  return () => Readable.from(generateRetail(size))
}

/** CSV text, one invoice a chunk, in date order. */
export function* generateRetail(size: RetailSize): Generator<string> {
  yield 'InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n'
  for (const lines of planYear(size)) yield lines.map(csvLine).join('')
}

/**
 * What the generator knows of its file before it is text: the figures that computeFigures must find in it, but for the
 * orders of returns (0), which nobody planned.
 */
export function generatedFigures(size: RetailSize): RetailFigures {
  const figures = emptyFigures()
  const skus = new Set<string>()
  const customers = new Set<number>()
  const sums = new Map<string, PlannedSum>()
  for (const line of [...planYear(size)].flat()) {
    figures.rows += 1
    skus.add(line.sku.toUpperCase())
    if (line.customerId !== 0) customers.add(line.customerId)
    const { kind, customerId, minute } = line
    const sum = sums.get(line.invoice) ?? { kind, customerId, minute, items: 0, pieces: 0, milli: 0 }
    sum.items += 1
    sum.pieces += line.quantity
    sum.milli += line.quantity * line.priceMilli
    sums.set(line.invoice, sum)
    if (kind === 'return') addPieces(figures, line.sku.toLowerCase(), -line.quantity)
  }
  figures.products = skus.size
  figures.customers = customers.size
  for (const [invoice, { kind, customerId, minute, items, pieces, milli }] of sums) {
    if (kind === 'return') {
      const creditPence = Math.floor((5 - milli) / 10)
      figures.returns.set(invoice, {
        date: wireTime(minute),
        customerId,
        orderId: 0,
        items,
        pieces: -pieces,
        creditPence,
      })
    } else if (kind === 'bad-debt') figures.badDebts += 1
    else if (kind === 'stock-correction') figures.stockCorrections += 1
    // No order of the plan comes to less than nothing.
    else addOrder(figures, Number(invoice), { customerId, items, amountPence: Math.floor((milli + 5) / 10) })
  }
  return figures
}

interface PlannedSum {
  readonly kind: InvoiceKind
  readonly customerId: number
  readonly minute: number
  items: number
  pieces: number
  milli: number
}

type InvoiceKind = 'order' | 'return' | 'bad-debt' | 'stock-correction'

interface PlannedLine {
  readonly kind: InvoiceKind
  readonly invoice: string
  readonly sku: string
  readonly description: string
  readonly quantity: number
  readonly minute: number
  readonly priceMilli: number
  readonly customerId: number
  readonly country: string
}

const firstInvoice = 536_365
const firstCustomer = 12_346
const daysOfYear = 374

/** Where the oddities that chance might leave out of a small file have their place. */
const oddOrders = { huge: 3, doubled: 4, apart: 6, free: 8, minutes: 10, tenthOfPenny: 12, guest: 14, ofOneLine: 16 }

function* planYear(size: RetailSize): Generator<PlannedLine[]> {
  if (size.invoices < 100) throw new Error(`A generated year has at least 100 invoices, not ${size.invoices}`)
  const random = randomFrom(size.seed)
  for (let index = 0; index < size.invoices; index += 1) {
    const lines = planInvoice(index, size, random)
    if (index !== oddOrders.apart) {
      yield lines
      continue
    }
    // The next invoice stands between the rows of this one, as its till was faster.
    index += 1
    const between = planInvoice(index, size, random)
    const middle = Math.ceil(lines.length / 2)
    const late = Math.max(...between.map((line) => line.minute))
    yield [...lines.slice(0, middle), ...between, ...lines.slice(middle).map((line) => ({ ...line, minute: late }))]
  }
}

function planInvoice(index: number, size: RetailSize, random: Random): PlannedLine[] {
  const kind = kindOf(index, size, random)
  const invoice = `${{ return: 'C', 'bad-debt': 'A' }[kind as string] ?? ''}${firstInvoice + index}`
  const customerId = customerOf(index, kind, size, random)
  const country = countryOf(index, customerId, size)
  const minute = minuteOf(index, size)
  const common = { kind, invoice, customerId, country, minute }
  if (kind === 'bad-debt') return [{ ...common, ...badDebt(index) }]
  if (kind === 'stock-correction') return [{ ...common, ...stockCorrection(size, random) }]
  const lines = Array.from({ length: lineCount(index, kind, customerId, random) }, () => ({
    ...common,
    ...soldLine(kind, minute, size, random),
  }))
  return kind === 'order' ? withOddities(index, lines) : lines
}

/** The real year's shares: 14 % returns, 8 % stock corrections, three bad-debt adjustments in a row. */
function kindOf(index: number, size: RetailSize, random: Random): InvoiceKind {
  const share = random()
  if (Object.values(oddOrders).includes(index) || index === oddOrders.apart + 1) return 'order'
  const middle = Math.floor(size.invoices / 2)
  if (index >= middle && index < middle + 3) return 'bad-debt'
  if (share < 0.14) return 'return'
  return share < 0.22 ? 'stock-correction' : 'order'
}

/** 0: a guest. */
function customerOf(index: number, kind: InvoiceKind, size: RetailSize, random: Random): number {
  const isGuest = random() < 0.07
  const place = Math.floor(random() * size.customers)
  if (kind === 'bad-debt' || kind === 'stock-correction' || index === oddOrders.guest) return 0
  const mustBeKnown = index === oddOrders.free || index === oddOrders.apart
  return isGuest && !mustBeKnown ? 0 : firstCustomer + place
}

/** Most are of the United Kingdom; one in 50 moves at the turn of the half-year. */
function countryOf(index: number, customerId: number, size: RetailSize): string {
  if (customerId === 0 || customerId % 8 !== 0) return 'United Kingdom'
  const moved = customerId % 48 === 0 && index > size.invoices / 2 ? 1 : 0
  return countries[(customerId / 8 + moved) % countries.length] ?? 'Unspecified'
}

const countries = [
  ...['EIRE', 'France', 'Germany', 'Unspecified', 'Channel Islands', 'European Community', 'RSA', 'USA', 'Netherlands'],
  ...['Belgium', 'Spain', 'Portugal', 'Australia', 'Norway', 'Japan', 'Hong Kong', 'Czech Republic', 'Lebanon'],
]

/** Minutes since the first day; the shop is open from 8 to 18 o'clock, the days ascend with the invoices. */
function minuteOf(index: number, size: RetailSize): number {
  const time = (index * daysOfYear) / size.invoices
  const day = Math.floor(time)
  return day * 1440 + 480 + Math.floor((time - day) * 600)
}

function badDebt(index: number): Pick<PlannedLine, 'sku' | 'description' | 'quantity' | 'priceMilli'> {
  return {
    sku: 'B',
    description: 'Adjust bad debt',
    quantity: 1,
    priceMilli: index % 3 === 0 ? 11_062_060 : -11_062_060,
  }
}

const notes = ['', '', '', '?', 'damaged', 'check', 'thrown away', 'found', 'sold as set on dotcom', '????missing']

function stockCorrection(
  size: RetailSize,
  random: Random,
): Pick<PlannedLine, 'sku' | 'description' | 'quantity' | 'priceMilli'> {
  const { sku } = productAt(Math.floor(random() * size.products), size)
  const quantity = (random() < 0.64 ? -1 : 1) * (1 + Math.floor(mostlyLow(random, 4) * 900))
  return { sku, description: notes[Math.floor(random() * notes.length)] ?? '', quantity, priceMilli: 0 }
}

function lineCount(index: number, kind: InvoiceKind, customerId: number, random: Random): number {
  const few = mostlyLow(random, kind === 'return' ? 3 : 2)
  if (index === oddOrders.huge) return 500
  if (index === oddOrders.ofOneLine || index === oddOrders.free) return 1
  if (index === oddOrders.apart) return 6
  if (kind === 'return') return 1 + Math.floor(few * 8)
  // Guests are the orders of other market places, booked together: rare and long.
  return 1 + Math.floor(few * (customerId === 0 ? 370 : 83))
}

function soldLine(kind: InvoiceKind, minute: number, size: RetailSize, random: Random) {
  const product = productAt(Math.floor(mostlyLow(random, 2) * size.products), size)
  const isOtherCase = random() < 0.1
  const spelling = Math.floor(random() * 12)
  const quantity = 1 + Math.floor(mostlyLow(random, 6) * 200)
  return {
    sku: isOtherCase && product.hasTwoCases ? product.sku.toLowerCase() : product.sku,
    description: spelled(product.name, spelling, minute),
    quantity: kind === 'return' ? -quantity : quantity,
    priceMilli: chargedMilli(product.priceMilli, random()),
  }
}

/** Names change by the year's half, some rows have a blank at the end, a few have no name. */
function spelled(name: string, spelling: number, minute: number): string {
  if (spelling === 0) return ''
  if (spelling === 1) return `${name} `
  return minute > (daysOfYear / 2) * 1440 ? name.replace('SET OF', 'SET/') : name
}

function chargedMilli(priceMilli: number, share: number): number {
  if (share < 0.005) return 0
  if (share < 0.15) return Math.round(priceMilli * 0.085) * 10
  return share < 0.25 ? Math.round(priceMilli * 0.195) * 10 : priceMilli
}

function withOddities(index: number, lines: PlannedLine[]): PlannedLine[] {
  const [first] = lines
  if (!first) return lines
  if (index === oddOrders.doubled) return [first, first, ...lines.slice(1)]
  if (index === oddOrders.free) return lines.map((line) => ({ ...line, priceMilli: 0 }))
  if (index === oddOrders.tenthOfPenny) {
    return [...lines, { ...first, sku: 'PADS', description: 'PADS TO MATCH ALL CUSHIONS', quantity: 5, priceMilli: 1 }]
  }
  if (index === oddOrders.minutes) return [...lines, { ...first, minute: first.minute + 1 }]
  return lines
}

interface PlannedProduct {
  readonly sku: string
  readonly name: string
  readonly priceMilli: number
  readonly hasTwoCases: boolean
}

const specials = [
  ['POST', 'POSTAGE', 18_000],
  ['DOT', 'DOTCOM POSTAGE', 11_000],
  ['M', 'Manual', 1_000],
  ['C2', 'CARRIAGE', 50_000],
  ['BANK CHARGES', 'Bank Charges', 15_000],
  ['AMAZONFEE', 'AMAZON FEE', 6_706_710],
  ['gift_0001_20', 'Dotcomgiftshop Gift Voucher £20.00', 16_670],
  ['DCGS0076', 'SUNJAR LED NIGHT NIGHT LIGHT', 16_670],
] as const

const colours = ['RED', 'PINK', 'IVORY', 'BLUE', 'ROSÉ', 'GREEN', 'BLACK', 'ASSTD']
const patterns = ['RETROSPOT', 'POLKADOT', 'VINTAGE', '"HOME SWEET HOME"', 'CHRISTMAS', 'PAISLEY', 'CRÈME']
const things = [
  'LANTERN',
  'MUG',
  'T-LIGHT HOLDER',
  'SIGN, METAL',
  'NOTEBOOK',
  'CAKE TINS',
  'CUSHION',
  'FRAME 7" SINGLE',
]

/** Low places sell most: the codes that are not goods have the last ones. */
function productAt(place: number, size: RetailSize): PlannedProduct {
  const special = specials[size.products - 1 - place]
  if (special) return { sku: special[0], name: special[1], priceMilli: special[2], hasTwoCases: special[0] === 'M' }
  const lettered = place % 4 === 0
  const words = [colours[place % 8], patterns[place % 7], things[Math.floor(place / 7) % 8]]
  return {
    sku: `${20_000 + place}${lettered ? 'ABCDEL'[place % 6] : ''}`,
    name: `${place % 5 === 0 ? `SET OF ${2 + (place % 9)} ` : ''}${words.join(' ')}`,
    priceMilli: (29 + ((place * 7919) % 1966)) * 10,
    hasTwoCases: lettered && place % 8 === 0,
  }
}

function csvLine(line: PlannedLine): string {
  const date = wireTime(line.minute).replace('T', ' ')
  const customer = line.customerId === 0 ? '' : String(line.customerId)
  const cells = [line.invoice, line.sku, line.description, line.quantity, date, priceText(line.priceMilli), customer]
  return `${[...cells, line.country].map((cell) => quoted(String(cell))).join(',')}\n`
}

function wireTime(minute: number): string {
  return new Date(Date.UTC(2010, 11, 1) + minute * 60_000).toISOString().slice(0, 19)
}

/** As the file writes prices: `2.55`, `0.0`, `0.001`. */
function priceText(milli: number): string {
  const digits = String(Math.abs(milli)).padStart(4, '0')
  const decimals = digits.slice(-3).replace(/0{1,2}$/, '')
  return `${milli < 0 ? '-' : ''}${digits.slice(0, -3)}.${decimals}`
}

function quoted(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** A product of chances. By multiplication: the last digit of `**` is the engine's own choice. */
function mostlyLow(random: Random, chances: number): number {
  return Array.from({ length: chances }, random).reduce((product, chance) => product * chance, 1)
}

type Random = () => number

/** mulberry32: 0 up to 1, from whole-number arithmetic alone, so that no machine differs. */
function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
