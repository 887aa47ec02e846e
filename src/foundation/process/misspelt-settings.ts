import { settingNames } from './settings.ts'

/** Names this long may differ by two letters, because few other names are that close to them. */
const LONG_NAME_LENGTH = 10

/**
 * Returns a warning for each environment variable that is probably a misspelt setting. It has the first letter of a setting that
 * is not given, and differs from its name by one letter (two in long names), by two swapped letters, or in case. The first
 * letter must match because it is rarely mistyped, while unrelated variables (SSL_CERT_FILE) differ in it.
 */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const isGiven = (name: string) => Boolean(environment[name]?.trim())
  const missing = settingNames.filter((name) => !isGiven(name))
  return Object.keys(environment)
    .filter((name) => /^[\w.-]+$/.test(name) && !settingNames.includes(name) && isGiven(name))
    .flatMap((name) => {
      const meant = missing.find((setting) => isMisspelt(name.toUpperCase(), setting))
      return meant ? [`${name} is not a setting and is ignored. Did you mean ${meant}?`] : []
    })
}

function isMisspelt(name: string, setting: string): boolean {
  return name[0] === setting[0] && isNear(name, setting, setting.length < LONG_NAME_LENGTH ? 1 : 2)
}

/** Whether at most `edits` added, omitted, replaced or swapped letters turn one text into the other. */
function isNear(one: string, other: string, edits: number): boolean {
  if (one === other) return true
  if (edits === 0 || Math.abs(one.length - other.length) > edits) return false
  if (one[0] === other[0]) return isNear(one.slice(1), other.slice(1), edits)
  return (
    isNear(one.slice(1), other, edits - 1) ||
    isNear(one, other.slice(1), edits - 1) ||
    isNear(one.slice(1), other.slice(1), edits - 1) ||
    (one[0] === other[1] && one[1] === other[0] && isNear(one.slice(2), other.slice(2), edits - 1))
  )
}
