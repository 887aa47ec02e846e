import type { LightMyRequestResponse } from 'fastify'
import { textOf } from '../../../../support/person.ts'

/** Where an answer leads. */
export function leadsTo({ statusCode, headers }: LightMyRequestResponse) {
  return [statusCode, headers.location]
}

/** What is said in the page's alert, without its markup. */
export function alertOf({ body }: LightMyRequestResponse): string {
  return textOf(/<div class="failure"[\s\S]*?<\/div>/.exec(body)?.[0] ?? '')
}

/** The session's cookie as it was set, if it was. */
export function cookieSet({ cookies }: LightMyRequestResponse, name: string) {
  return cookies.find((cookie) => cookie.name === name)
}

/** A page without what changes from one time to the next. */
export function steady({ body }: LightMyRequestResponse): string {
  return body.replace(/name="_csrf" value="[^"]*"/g, '').replace(/Request <code>[^<]*/g, '')
}
