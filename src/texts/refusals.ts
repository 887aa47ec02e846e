// What the server says of a refusal is written where it is refused, in English with the values in it, for programs above all. A
// catalogue has it with `{1}` in place of each value, and pages find it by that pattern.

interface Pattern {
  readonly expression: RegExp
  readonly said: string
  /** How much of it is no value. */
  readonly fixed: number
}

/** Returns what says refusals by a catalogue. A refusal that no message fits stays English. */
export function refusalsOf(catalogue: ReadonlyMap<string, string>): (problem: string) => string {
  const patterns = [...catalogue].filter(([message]) => /\{\d\}/.test(message)).map(patternOf)
  // "must be from {1} to {2}" says more than "must be {1}".
  patterns.sort((one, other) => other.fixed - one.fixed)
  const say = (problem: string): string => {
    const whole = catalogue.get(problem)
    if (whole !== undefined) return whole
    for (const { expression, said } of patterns) {
      const values = expression.exec(problem)
      // A value may be a message itself, such as the reason of a reason.
      if (values !== null) return said.replace(/\{(\d)\}/g, (_, place) => say(values[Number(place)] ?? ''))
    }
    return problem
  }
  return say
}

function patternOf([message, said]: readonly [string, string]): Pattern {
  const fixed = message.split(/\{\d\}/)
  const escaped = fixed.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return { expression: new RegExp(`^${escaped.join('([^]+?)')}$`), said, fixed: fixed.join('').length }
}
