import { domainToASCII } from 'node:url'

export const EMAIL_LENGTH_MAX = 254

/** The address with the letters beyond ASCII of its domain as `xn--…`: the only form that the rule of HTML takes. */
export function asciiEmail(given: string): string {
  const at = given.lastIndexOf('@') + 1
  const domain = given.slice(at)
  if (at === 0 || !/\P{ASCII}/u.test(domain) || /[\s/?#:\\%]/.test(domain)) return given
  return given.slice(0, at) + (domainToASCII(domain) || domain)
}

/**
 * The texts by which the address in a query may be stored. A bare `+` arrives as a blank, and earlier versions stored domains as
 * they were given.
 */
export function emailForms(given: string): readonly string[] {
  return [...new Set([given, given.replaceAll(' ', '+')].flatMap((form) => [asciiEmail(form), form]))]
}
