import { type Phrase, t } from '../../foundation/texts/text.ts'

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
const devices = [
  [/\b(?:iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
] as const
const systems = [
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** What people call the browser that sends this User-Agent, such as `Firefox on Windows`. One that nobody knows says what it sent. */
export function browserName(userAgent: string): Phrase {
  if (userAgent === '') return t('It does not say what it is')
  const named = (all: typeof browsers | typeof devices | typeof systems) =>
    all.find(([pattern]) => pattern.test(userAgent))?.[1]
  const [browser, device, system] = [named(browsers), named(devices), named(systems)]
  if (browser === undefined) return userAgent
  // German has another word before it.
  if (device !== undefined) return t('{browser} on an {device}', { browser, device })
  return system === undefined ? browser : t('{browser} on {system}', { browser, system })
}
