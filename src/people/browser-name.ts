import { type Phrase, t } from '../texts/text.ts'

/** By what their User-Agent says, the first that fits: most name others too. */
const browsers = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
] as const
const systems = [
  [/\b(?:iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** What people call the browser that sends this User-Agent, such as `Firefox on Windows`. One that nobody knows says what it sent. */
export function browserName(userAgent: string): Phrase {
  if (userAgent === '') return t('It does not say what it is')
  const named = (all: typeof browsers | typeof systems) => all.find(([pattern]) => pattern.test(userAgent))?.[1]
  const [browser, system] = [named(browsers), named(systems)]
  if (browser === undefined) return userAgent
  return system === undefined ? browser : t('{browser} on {system}', { browser, system })
}
