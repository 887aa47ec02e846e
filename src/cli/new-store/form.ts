import { randomBytes } from 'node:crypto'
import { StartupError } from '../../foundation/process/startup-error.ts'
import { type Field, fields } from './fields.ts'
import type { Prompt } from './prompt.ts'

/** A question is repeated this often, so that an input without an end ends. */
const TRIES_MAX = 10

export type Form = ReturnType<typeof createForm>

/** Collects values: from the arguments, which `given` has by option, else by asking. Throws StartupError for an argument that is wrong. */
export function createForm(prompt: Prompt, given: Readonly<Record<string, string | undefined>>) {
  const values = new Map<string, unknown>()
  for (const field of Object.values<Field<unknown>>(fields)) {
    const argument = given[field.option]
    if (argument !== undefined) values.set(field.option, readArgument(field, argument))
  }
  let isDialogue = false

  async function ask<T>(field: Field<T>, standard?: string): Promise<T> {
    isDialogue = true
    return repeat(prompt, field, async () => {
      const hint = standard === undefined ? '' : ` [${standard}]`
      const line = await prompt.ask(`${field.question}${hint}: `)
      return read(field, line === null ? null : line.trim() || (standard ?? ''))
    })
  }

  /** The value that is known, or comes now. */
  async function answerTo<T>(field: Field<unknown>, otherwise: () => Promise<T>): Promise<T> {
    if (!values.has(field.option)) values.set(field.option, await otherwise())
    return values.get(field.option) as T
  }

  return {
    /** The value of a field that has no default. */
    require: <T>(field: Field<T>) => answerTo(field, () => ask(field)),
    /** As `require`, but the default counts where no question has been asked so far: then the arguments say all. */
    withDefault: <T>(field: Field<T>, standard: string) =>
      answerTo(field, async () => (isDialogue ? ask(field, standard) : readArgument(field, standard))),
    /** A password, asked for without an echo, or made. Never from the arguments, which other users of the machine can read. */
    password: (isMade: boolean, refusal: (password: string) => string | null) =>
      answerTo(fields.password, async () => (isMade ? makePassword() : askPassword(prompt, refusal))),
    /** Forgets a value that the server refused, and says why. Throws StartupError where nothing was asked. */
    refuse: (field: Field<unknown>, message: string) => {
      if (!isDialogue) throw new StartupError(message)
      prompt.say(message)
      values.delete(field.option)
    },
  }
}

function makePassword() {
  return { password: randomBytes(15).toString('base64url'), isMade: true }
}

async function askPassword(prompt: Prompt, refusal: (password: string) => string | null) {
  const { password: field } = fields
  return repeat(prompt, field, async () => {
    const line = await prompt.ask(`${field.question} (empty: one is made and shown): `, { hidden: true })
    if (line === '') return { value: makePassword() }
    const outcome = read(field, line)
    if (!('value' in outcome)) return outcome
    const fault = refusal(outcome.value)
    if (fault !== null) return { fault }
    if (prompt.isTerminal && (await prompt.ask('The same once more: ', { hidden: true })) !== outcome.value) {
      return { fault: 'The two passwords differ' }
    }
    return { value: { password: outcome.value, isMade: false } }
  })
}

type Outcome<T> = { readonly value: T } | { readonly fault: string }

/** Asks until the answer is right. */
async function repeat<T>(prompt: Prompt, field: Field<unknown>, attempt: () => Promise<Outcome<T>>): Promise<T> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const outcome = await attempt()
    if ('value' in outcome) return outcome.value
    prompt.say(outcome.fault)
  }
  throw new StartupError(`${field.member} was answered wrongly ${TRIES_MAX} times`)
}

function read<T>(field: Field<T>, text: string | null): Outcome<T> {
  if (text === null) throw new StartupError(`${field.member} is missing: the input has ended. ${howToGive(field)}`)
  const parsed = field.read.safeParse(text)
  return parsed.success ? { value: parsed.data } : { fault: `${field.member} ${parsed.error.issues[0]?.message}` }
}

function howToGive({ option }: Field<unknown>): string {
  return option === fields.password.option
    ? 'Give it as a line of standard input, or have one made by --generate-password'
    : `Give it as --${option}`
}

function readArgument<T>(field: Field<T>, text: string): T {
  const outcome = read(field, text)
  if ('value' in outcome) return outcome.value
  throw new StartupError(`--${field.option}: ${outcome.fault}`)
}
