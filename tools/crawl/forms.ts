import { type Answer, filledIn, type Pairs } from './browser.ts'
import { type Field, type Form, formsIn } from './html.ts'
import { opened, patternOf, type Walk } from './pages.ts'
import type { Report } from './report.ts'
import type { Role, Scene } from './scene.ts'

/** The owner comes last, because the owner's changes reach the others. */
const senders: readonly Role[] = ['nobody', 'customer', 'reader', 'developer', 'operator', 'owner']
/** Who is refused what the others may send. */
const strangers: readonly Role[] = ['reader', 'customer', 'nobody']

/** Forms that are not sent, each with its reason. */
const leftOut: readonly (readonly [action: RegExp, reason: string])[] = [
  [/\/factors/, 'a secret drawn by lot, as a picture too'],
  [/test-stores\/\d+\/(rate|changes|due-now|reset|end|delete)|\/test-stores$/, 'works in the background, by chance'],
  [/\/operator\/test-stores/, 'takes test stores from the developers'],
]
/** What takes away what other forms need, and after it what ends sessions: sent last, in this order. */
const late = [
  /delete|remove|withdraw|unsubscribe|key|secret|revoke|reset/,
  /password|address|sessions|prove|change-store|join|sign-/,
]

/**
 * Sends each form of these turns (2: what ends sessions) wrong, as it is shown, altered, and once more when it is outdated; returns
 * how many were sent.
 */
export async function crawlForms(
  scene: Scene,
  report: Report,
  walks: ReadonlyMap<Role, Walk>,
  turns: readonly number[],
): Promise<number> {
  const all = senders.flatMap((role) => distinct(walks.get(role)?.forms ?? []).map((form) => ({ role, form })))
  const sender = new Sender(scene, report)
  for (const turn of turns) {
    for (const { role, form } of all.filter((one) => turnOf(one.form) === turn)) await sender.send(role, form)
  }
  return sender.count
}

function turnOf({ action }: Form): number {
  return late.findLastIndex((one) => one.test(action)) + 1
}

/** What a form is, whatever record it is of. */
function kindOf({ method, action, fields }: Form): string {
  const names = fields.map(({ name, kind, value }) => (kind === 'button' ? `${name}=${value}` : name))
  return `${method} ${patternOf(action)} ${[...new Set(names)].sort().join().replace(/\d+/g, '0')}`
}

function distinct(forms: readonly Form[]): Form[] {
  const kinds = new Map<string, Form>()
  for (const form of forms) if (!kinds.has(kindOf(form))) kinds.set(kindOf(form), form)
  return [...kinds.values()].filter(({ action }) => !leftOut.some(([one]) => one.test(action)))
}

class Sender {
  readonly #scene: Scene
  readonly #report: Report
  count = 0

  constructor(scene: Scene, report: Report) {
    this.#scene = scene
    this.#report = report
  }

  async send(role: Role, form: Form): Promise<void> {
    if (/webhooks|deliver/.test(form.page)) await this.#scene.settled()
    const former = await this.#fresh(role, form)
    if (former === undefined) return
    await this.#submit(
      role,
      former,
      'emptied',
      altered(former, () => ''),
    )
    await this.#submit(
      role,
      former,
      'emptied, in German',
      altered(former, () => ''),
      'de',
    )
    await this.#submit(role, former, 'wrong', altered(former, wrong))
    if (form.method === 'POST') {
      await this.#submit(role, former, 'with a wrong token', filledIn(former, { _csrf: 'wrong' }))
      await this.#refusals(role, former)
    }
    await this.#submit(role, former, 'as shown', filledIn(former))
    const shown = await this.#fresh(role, form)
    if (shown === undefined || form.method === 'GET') return
    await this.#submit(role, shown, 'altered', altered(shown, right))
    await this.#submit(
      role,
      shown,
      'outdated',
      altered(shown, (field) => `${right(field)}2`),
    )
  }

  /** The form as its page has it now. */
  async #fresh(role: Role, form: Form): Promise<Form | undefined> {
    const page = await opened(this.#scene, role, form.page, 'en')
    const found = formsIn(page.text, form.page).find((one) => kindOf(one) === kindOf(form))
    if (found === undefined)
      this.#report.add(this.#file(role, form), `${form.method} ${form.action} is not shown at ${form.page}`, page)
    return found
  }

  async #submit(role: Role, form: Form, how: string, fields: Pairs, language: 'en' | 'de' = 'en'): Promise<void> {
    this.count++
    const name = `${form.method} ${form.action} of ${form.page} ${how}`
    const answer = await this.#scene.sessions[role].submit(form, fields, language)
    this.#report.add(this.#file(role, form), name, answer)
    const location = String(answer.headers.location ?? '')
    if (!location.startsWith('/')) return
    const next: Answer = await opened(this.#scene, role, location.replace(/#.*/, ''), language)
    this.#report.add(this.#file(role, form), `${name}, and then ${location}`, next)
  }

  /** What programs of others are answered. */
  async #refusals(role: Role, { action, fields }: Form): Promise<void> {
    if (strangers.includes(role)) return
    const body = Object.fromEntries(fields.map(({ name, value }) => [name, value]))
    for (const stranger of strangers) {
      const answer = await this.#scene.sessions[stranger].call('POST', action, body)
      this.#report.add(`forms/${stranger}-others.txt`, `POST ${action}`, answer)
    }
  }

  #file(role: Role, { action }: Form): string {
    return `forms/${role}-${action.split(/[/?#]/).slice(1, 3).join('-') || 'start'}.txt`
  }
}

/** The form's fields, those that a person fills in with other values. */
function altered(form: Form, value: (field: Field) => string): Pairs {
  return form.fields.flatMap((field) => {
    if (field.kind === 'hidden' || field.kind === 'button') return [[field.name, field.value] as const]
    if (field.kind === 'radio') return field.isSent ? [[field.name, field.value] as const] : []
    if (field.kind === 'checkbox')
      return field.isSent === (value(field) === '') ? [] : [[field.name, field.value] as const]
    return [[field.name, value(field)] as const]
  })
}

function wrong({ kind }: Field): string {
  return kind === 'text' || kind === 'textarea' || kind === 'search' ? 'x'.repeat(5_000) : 'abc'
}

/** Another value that the field may have, as far as its name and its former value say. */
function right({ name, kind, value, options }: Field): string {
  if (kind === 'select') return options[(options.indexOf(value) + 1) % options.length] ?? ''
  if (name === 'file') return 'SKU,Name\nALTERED-1,Altered\n'
  if (kind === 'date') return '2026-10-20'
  if (/password/i.test(name)) return value
  if (/^\d+$/.test(value)) return String(Number(value) + 1)
  if (/^-?\d+[.,]\d+$/.test(value)) return value.replace(/^-?\d/, '1')
  if (kind === 'email' || /email/i.test(name)) return 'altered@people.example'
  if (/url|https?:/i.test(name + value)) return value
  if (kind === 'number') return '1'
  return `${value} altered`.trim()
}
