import { readFileSync } from 'node:fs'
import type { Db } from '../../../foundation/database/client.ts'
import { causedKinds } from './kinds.ts'

/** The subject and the text of a mail, with placeholders such as `{order}`. They are plain text, and no template is made of them. */
export interface MailText {
  readonly subject: string
  readonly body: string
}

/** The languages in which there are texts. */
export const textTags = ['en', 'de'] as const

/** The texts that a store has until it writes its own. */
export const usualTexts = causedKinds.flatMap((kind) =>
  textTags.map((locale) => {
    const whole = readFileSync(new URL(`./texts/${locale}/${kind}.txt`, import.meta.url), 'utf8')
    const [subject = '', ...paragraphs] = whole.trim().split('\n\n')
    return { kind, locale, subject, body: paragraphs.join('\n\n') }
  }),
)

/** Reads the texts of a store: its own, or else the usual ones. */
export async function readTexts(db: Db, storeId: number): Promise<typeof usualTexts> {
  const rows = await db.mailText.findMany({ where: { storeId }, omit: { storeId: true } })
  const own = new Map(rows.map(({ kind, locale, ...said }) => [kind + locale, said]))
  return usualTexts.map((usual) => ({ ...usual, ...own.get(usual.kind + usual.locale) }))
}

export const PLACEHOLDER = /\{([^{}\n]*)\}/g

/** Puts values in the place of placeholders, once. A paragraph with one that says nothing is left out. */
export function filled(written: string, values: Readonly<Record<string, string>>): string {
  const says = (paragraph: string) => [...paragraph.matchAll(PLACEHOLDER)].every(([, name = '']) => values[name] !== '')
  const paragraphs = written.split(/\n{2,}/).filter(says)
  return paragraphs.join('\n\n').replaceAll(PLACEHOLDER, (whole, name: string) => values[name] ?? whole)
}
