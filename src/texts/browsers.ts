import { type Phrase, t } from './text.ts'

// Browsers name those that they want to be taken for, so the first that fits is what one is.
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|OPT|OPiOS|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['DuckDuckGo', /\b(?:DuckDuckGo|Ddg)\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /(?:\b|Headless)Chrome\/|\bCriOS\//],
  // Others that are made of its engine say the same elsewhere.
  ['Safari', /\((?:iPhone|iPad|iPod|Macintosh).* Version\/.* Safari\//],
] as const

const devices = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
] as const

// A telephone with Android says Linux too.
const systems = [
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const

/** Returns what people call a browser and what it runs on, such as `Chrome on Windows`, by what it says in `User-Agent`. */
export function browserName(userAgent: string): Phrase {
  const of = (names: readonly (readonly [string, RegExp])[]) =>
    names.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const browser = of(browsers)
  const device = of(devices)
  const system = of(systems)
  if (browser === undefined) {
    if (device !== undefined) return t('Unknown browser on an {device}', { device })
    return system === undefined ? t('Unknown browser') : t('Unknown browser on {system}', { system })
  }
  if (device !== undefined) return t('{browser} on an {device}', { browser, device })
  return system === undefined ? browser : t('{browser} on {system}', { browser, system })
}
