import { cachedFormatters } from '../values/shown-date.ts'
import type { Locale } from './language.ts'

// What the server says of a refusal is written where it is refused, in English with the values in it, for programs above all. A
// catalogue has it with `{1}` in place of each value, and pages find it by that pattern. In a translation, `{1, number}` writes a value as
// the reader's numbers are written.

interface Pattern {
  readonly message: string
  readonly expression: RegExp
  readonly said: string
  /** What a text begins and ends with that fits: most do not, which is seen faster than by the expression. */
  readonly prefix: string
  readonly suffix: string
}

interface Said {
  readonly text: string
  /** How many characters are values that nothing translates. */
  readonly left: number
}

/** Words that are joined, such as `csv or ndjson`: only a value of a message is such a list, because many sentences have an `or`. */
const LIST = /^\{1\};? (and|or) /

/** Beyond it, what is repeated from the request could keep the expressions busy. The longest message has 200 characters. */
const LENGTH_MAX = 600

/** Returns what says refusals by a catalogue. What no message fits stays English. */
export function refusalsOf(catalogue: ReadonlyMap<string, string>, locale: Locale): (problem: string) => string {
  if (catalogue.size === 0) return (problem) => problem
  const patterns = [...catalogue].filter(([message]) => /\{\d\}/.test(message)).map(patternOf)
  const sentences = Map.groupBy(
    patterns.filter(({ message }) => !LIST.test(message)),
    // Empty: a value comes first.
    ({ prefix }) => (prefix.includes(' ') ? firstWord(prefix) : ''),
  )
  const lists = patterns.filter(({ message }) => LIST.test(message))
  const numberOf = numbersIn(locale)
  const sayBy = ({ expression, said }: Pattern, text: string): Said | null => {
    const values = expression.exec(text)?.slice(1).map(sayValue)
    if (values === undefined) return null
    const filled = said.replace(/\{(\d)(, number)?\}/g, (_, place, isNumber) => {
      const { text: value = '' } = values[Number(place) - 1] ?? {}
      return isNumber && decimal.test(value) ? numberOf(value) : value
    })
    return { text: filled, left: values.reduce((sum, { left }) => sum + left, 0) }
  }
  /** By the message that leaves the least: "must be from {1} to {2}" fits better than "must be {1}". */
  const sayBest = (all: readonly Pattern[], text: string): Said | null =>
    (text.length > LENGTH_MAX ? [] : all)
      .filter(({ prefix, suffix }) => text.startsWith(prefix) && text.endsWith(suffix))
      .flatMap((pattern) => sayBy(pattern, text) ?? [])
      .reduce<Said | null>((best, one) => (best === null || one.left < best.left ? one : best), null)
  const sayWhole = (text: string): Said | null => {
    const known = catalogue.get(text)
    if (known !== undefined) return { text: known, left: 0 }
    return sayBest([...(sentences.get(firstWord(text)) ?? []), ...(sentences.get('') ?? [])], text)
  }
  /** What begins with the field that it is said of, where no page has put a label in its place. */
  const sayOfField = (text: string): Said | null => {
    const [, field, problem = ''] = /^([\w.[\]-]+) (.+)$/s.exec(text) ?? []
    const said = field === undefined ? null : sayWhole(problem)
    return said && { text: `${field} ${said.text}`, left: said.left }
  }
  /** A value may be a message itself, such as the reason of a reason, or a list of words. */
  const sayValue = (value: string): Said =>
    sayWhole(value) ?? sayOfField(value) ?? sayBest(lists, value) ?? { text: value, left: value.length }
  return (problem) => {
    // The problems of several fields, in one message.
    const parts = problem.split('; ').map(sayOfField)
    if (parts.length > 1 && parts.every((part) => part !== null)) return parts.map(({ text }) => text).join('; ')
    return (sayWhole(problem) ?? sayOfField(problem))?.text ?? problem
  }
}

/** Returns what writes a number with as many decimals as it has. */
function numbersIn(locale: Locale): (value: string) => string {
  const formats = cachedFormatters(
    (decimals) => new Intl.NumberFormat(locale, { minimumFractionDigits: Number(decimals) }),
  )
  return (value) => {
    const [, decimals = ''] = value.split('.')
    return formats.memo(String(decimals.length)).format(Number(value.replaceAll(',', '')))
  }
}

function patternOf([message, said]: readonly [string, string]): Pattern {
  const fixed = message.split(/\{\d\}/)
  const escaped = fixed.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const expression = new RegExp(`^${escaped.join('(.*?)')}$`, 's')
  return { message, expression, said, prefix: fixed[0] ?? '', suffix: fixed.at(-1) ?? '' }
}

function firstWord(text: string): string {
  return text.slice(0, text.indexOf(' '))
}

/** A number as programs write it, or English pages. */
const decimal = /^-?(\d{1,3}(,\d{3})+|\d{1,15})(\.\d{1,10})?$/
