import type { Format } from './format.ts'

/** A value in a text: printed as it stands, said in the same language, or formatted for the same reader. */
export type TextValue = string | number | Text | ((language: Reader) => string)

/** For whom a text is said. */
export interface Reader {
  readonly format: Format
  /** Says a text; data stays. */
  say(words: Phrase): string
  /** Says what the server wrote in English of something that it refused, with values in it. */
  sayProblem(problem: string): string
}

export type TextValues = Readonly<Record<string, TextValue>>

/** What a page prints: a text that is said in the reader's language, or data, such as a name, that is the same in each. */
export type Phrase = Text | string

/**
 * A text of the pages before anybody reads it. `key` is the English message in ICU syntax, by which the catalogues of the other languages
 * name it (`src/foundation/texts/de`).
 */
export class Text {
  readonly key: string
  readonly values: TextValues | undefined

  constructor(key: string, values?: TextValues) {
    this.key = key
    this.values = values
  }

  /** Throws: a text in a longer string would be in one language for good. A page prints it, or a text takes it as a value. */
  toString(): never {
    throw new Error(`The text "${this.key}" was made part of a string`)
  }
}

/**
 * Makes a text: `t('{count, plural, one {# order} other {# orders}}', { count })`. The test of the catalogues finds messages that are
 * written as literals in the call; a message from elsewhere has to be added to it (`tools/texts/definitions.ts`).
 */
export function t(key: string, values?: TextValues): Text {
  return new Text(key, values)
}

/** What is written for its reader, such as an amount, as a text of its own. */
export function written(words: (reader: Reader) => string): Text {
  return t('{words}', { words })
}

/** What the server wrote in English of something that it refused, as a text. */
export function problemOf(problem: string): Text {
  return written(({ sayProblem }) => sayProblem(problem))
}

/** Joins words as the reader's language does: `a, b, or c`. */
export function orOf(words: readonly Phrase[]): Text {
  return written(({ format, say }) => format.or(words.map(say)))
}

/** Joins words as the reader's language does: `a, b, and c`. */
export function andOf(words: readonly Phrase[]): Text {
  return written(({ format, say }) => format.and(words.map(say)))
}
