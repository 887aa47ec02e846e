import { settingNames } from './settings.ts'

/** Names this long may differ by two letters: few other names lie that near to them. */
const LONG_NAME_LENGTH = 10

/**
 * Returns a warning for each variable of the environment that is probably a misspelt setting: it has the first letter of a
 * setting that is not given, and differs from its name by one letter (two in long names), by two letters that changed
 * places, or in case. The first letter counts because typing errors spare it, and foreign variables (SSL_CERT_FILE) do not.
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

/** Whether `edits` letters that are added, left out, replaced or swapped with the next make one text of the other. */
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
