import { constant, empty, identifier, join, type Sql, sql, storeId } from '../../foundation/database/sql.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import type { Caller } from '../caller.ts'
import { checkedText, type Filter, wrongParameter } from './filters.ts'

/** Who looks for records: a store, and what may be read of it. */
export type Seeker = Pick<Caller, 'store' | 'privileges'>

/** A way in which people find records by what they type. */
export interface Finder {
  /** Records that it finds stand before those of finders with a higher one. */
  readonly rank: number
  /**
   * A SELECT of the records' ids as "id", perhaps repeated, with at least the newest `max` of them; null: no record is called so, or the
   * seeker may not know. `text` is checked and trimmed.
   */
  readonly ids: (text: string, seeker: Seeker, max: number) => Sql | null
  /** Whether another finder beside it finds all that it does, behind others. Absent: none does. */
  readonly isCovered?: (text: string) => boolean
}

/** The ranks: what was typed is the number of the record; names it; names a part of it; begins words of it; is a part of them. */
const RANK_NUMBER = 0
export const RANK_NAME = 1
export const RANK_ITEM = 2
/** Behind telephone numbers with more equal digits. */
const RANK_BEGINNING = 10
const RANK_PART = 11

/** The longest text that is looked for, in characters. */
export const TYPED_MAX = 100
const WORDS_MAX = 8
/** An index of trigrams finds no part that is shorter, but beginnings of words. */
const PART_MIN = 3
/** Words of the newest records, among which a shorter part is looked for. */
const SHORT_WALKED = 1_000
/** Words of the newest records that tell whether many have what is looked for, and how many of them then have it. */
const SAMPLED = 4_000
const COMMON_MIN = 32
/** What many records have is looked for among so many words: an index would find tens of thousands first. */
const WALKED_MAX = 150_000
/** The most that words find, the newest. */
const FOUND_MAX = 10_000
/** Fewer digits are in too many telephone numbers. */
const DIGITS_MIN = 5
/** Without the code of a country or town, which people write or leave out. */
const DIGITS_COMPARED = 8
/** With both, as E.164 has them. */
const DIGITS_MAX = 15

/** Returns the trimmed text. Throws a 400 unless it can be looked for. */
export function readTyped(given: string, name: string): string {
  const text = given.trim()
  if (text.length > TYPED_MAX) throw wrongParameter(name, text, `may have ${TYPED_MAX} characters at most`, 'too-long')
  return checkedText(text, name)
}

/** By the number of the record. */
export function byId(table: string): Finder {
  return {
    rank: RANK_NUMBER,
    ids: (text, { store }) => {
      const id = Number(/^#?([1-9]\d{0,9})$/.exec(text)?.[1] ?? Number.NaN)
      return id <= INT32_MAX ? idsWhere(table, store, sql`t."id" = ${id}::int`) : null
    },
  }
}

/** By a filter, which takes the text as it is. */
export function byFilter(table: string, filter: Filter): Finder {
  return {
    rank: filter.kind === 'part' ? RANK_PART : RANK_NAME,
    ids: (text, { store }) => {
      const condition = filter.read(text, 'find', store)
      return condition && idsWhere(table, store, condition)
    },
  }
}

function idsWhere(table: string, store: Seeker['store'], condition: Sql): Sql {
  return sql`SELECT t."id" FROM ${identifier(table)} t WHERE t."storeId" = ${storeId(store)} AND ${condition}`
}

/**
 * By the words that the table SearchText keeps of the service's records, in any order: those that begin so first, then those that have
 * them inside (of one or two letters alone, only among the newest), in any spelling; a telephone number by its digits from the end, those
 * with more equal ones first. `sourcesFor` says which sources the seeker may be led by; null: all.
 */
export function byWords(
  service: string,
  sourcesFor: (seeker: Seeker) => readonly number[] | null = () => null,
): readonly [beginnings: Finder, ...others: Finder[]] {
  const rowsFor = (seeker: Seeker) => {
    const sources = sourcesFor(seeker)
    const within = sources === null ? empty : sql`AND w."source" = ANY (${`{${sources.join(',')}}`}::smallint[])`
    return sql`"SearchText" w WHERE w."storeId" = ${storeId(seeker.store)} AND w."service" = ${service} ${within}`
  }
  return [
    {
      rank: RANK_BEGINNING,
      ids: (text, seeker, max) => {
        const words = wordsIn(text)
        return words.length === 0 ? null : firstNewest(rowsFor(seeker), words, beginning, max)
      },
      isCovered: (text) => isFoundInside(wordsIn(text)),
    },
    ...byDigits(rowsFor),
    {
      rank: RANK_PART,
      ids: (text, seeker, max) => {
        const words = wordsIn(text)
        if (words.length === 0) return null
        const rows = rowsFor(seeker)
        if (isFoundInside(words)) return firstNewest(rows, words, inside, max)
        return amongNewest(rows, allOf(words, inside(unindexed)), SHORT_WALKED)
      },
    },
  ]
}

/** By a telephone number: a finder for each number of digits that are compared, from the end. */
function byDigits(rowsFor: (seeker: Seeker) => Sql): Finder[] {
  return Array.from({ length: DIGITS_MAX - DIGITS_COMPARED + 1 }, (_, more) => ({
    rank: RANK_BEGINNING - more,
    ids: (text, seeker) => {
      const digits = phoneDigits(text, more)
      return digits === null ? null : among(rowsFor(seeker), sql`${indexed} LIKE ${`%${digits} %`}`)
    },
    // Digits alone are a part of words.
    isCovered: (text) => more > 0 || /^[1-9]\d{2,7}$/.test(text),
  }))
}

function among(rows: Sql, condition: Sql): Sql {
  return sql`SELECT w."recordId" AS "id" FROM ${rows} AND ${condition}`
}

/** The newest first. */
function amongNewest(rows: Sql, condition: Sql, walked: number): Sql {
  return sql`SELECT w."recordId" AS "id" FROM (
    SELECT * FROM ${rows} ORDER BY w."recordId" DESC LIMIT ${constant(walked)}) w WHERE ${condition}`
}

/**
 * Words that many records have are found in the newest ones. Numbers are rarely such. "OFFSET 0" has those that few have found by the index
 * first: a plan for the newest of them would walk all words.
 */
function firstNewest(rows: Sql, words: readonly string[], matching: Matching, max: number): Sql {
  const every = among(rows, allOf(words, matching(indexed)))
  if (!Number.isFinite(max) || !words.some((word) => /\p{L}/u.test(word))) return every
  const condition = allOf(words, matching(unindexed))
  const enough = constant(Math.min(max, FOUND_MAX))
  return sql`WITH "sample" AS MATERIALIZED (
      SELECT count(*) >= ${constant(COMMON_MIN)} AS "isCommon" FROM (${amongNewest(rows, condition, SAMPLED)}) newest),
    "walked" AS MATERIALIZED (
      ${amongNewest(rows, sql`(SELECT "isCommon" FROM "sample") AND ${condition}`, WALKED_MAX)} LIMIT ${enough}),
    "counted" AS MATERIALIZED (SELECT count(*) = ${enough} AS "isEnough" FROM "walked")
    SELECT "id" FROM "walked" WHERE (SELECT "isEnough" FROM "counted")
    UNION ALL SELECT "id" FROM (SELECT "id" FROM (${every} OFFSET 0) rare ORDER BY 1 DESC LIMIT ${enough}) every
    WHERE NOT (SELECT "isEnough" FROM "counted")`
}

function allOf(words: readonly string[], condition: (spelling: string) => Sql): Sql {
  const conditions = words.map((word) => inAnySpelling(word, condition))
  return join(conditions, ' AND ')
}

/** Whether the text has a word in this spelling. */
type Matching = (text: Sql) => (spelling: string) => Sql

/** The same text, of which the index of trigrams is, and which takes a third as long to look through. */
const indexed = sql`lower(w."words")`
const unindexed = sql`w."words"`
const beginning: Matching = (text) => (word) => sql`${text} LIKE '% ' || btrim("folded"(${word})) || '%'`
const inside: Matching = (text) => (word) => sql`${text} LIKE '%' || "folded"(${word}) || '%'`

/** Whether an index finds words that have these inside. */
function isFoundInside(words: readonly string[]): boolean {
  return words.some((word) => word.length >= PART_MIN)
}

function wordsIn(text: string): string[] {
  return text
    .split(/\s+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, WORDS_MAX)
}

/** The last digits of a telephone number as people write it, `more` than are compared at least; null: it is none, or has fewer. */
function phoneDigits(text: string, more: number): string | null {
  if (!/^\+?[\d\s()./-]+$/.test(text)) return null
  const digits = text.replace(/\D/g, '').replace(/^0+/, '')
  const compared = DIGITS_COMPARED + more
  return digits.length < (more === 0 ? DIGITS_MIN : compared) ? null : digits.slice(-compared)
}

const spelledOut: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' }
/** Not behind a vowel or q, as in `Frauen`, nor at the end of a word: `shoe` would find all that begins with `sho`. */
const DIGRAPH = /(?<![aeiouq])(?:[aou]e|aa)(?=\p{L})/gu

/**
 * Words are kept without accents and in both spellings ("spelledWords"): `Müller` as `muller` and `mueller`, and `Mueller` too. A query asks for
 * a word as it is typed and with two letters as one, as a third person is `Muller`; with one as two for rows of before, until all are kept so.
 */
function inAnySpelling(word: string, condition: (spelling: string) => Sql): Sql {
  const typed = word.normalize('NFC').toLowerCase()
  const long = typed.replaceAll(/[äöüøå]/g, (letter) => spelledOut[letter] ?? letter)
  const short = typed.replaceAll(DIGRAPH, ([letter = '']) => letter)
  const spellings = [...new Set([typed, long, short])].filter((each) => each.length >= PART_MIN || each === typed)
  return sql`(${join(spellings.map(condition), ' OR ')})`
}

/** The ids of the records that finders find, at most `max` of each and the newest of them, with the lowest rank of each. */
export function foundBy(finders: readonly Finder[], text: string, seeker: Seeker, max: number): Sql | null {
  const found = finders.flatMap(({ rank, ids }) => {
    const select = ids(text, seeker, max)
    // A limit in the text of the statement: the planner walks the newest records for words that most of them have.
    return select === null
      ? []
      : [sql`(SELECT "id", ${constant(rank)} AS "rank" FROM (${select} ORDER BY 1 DESC LIMIT ${constant(max)}) each)`]
  })
  if (found.length === 0) return null
  return sql`SELECT "id", min("rank") AS "rank" FROM (${join(found, ' UNION ALL ')}) found GROUP BY "id"`
}
