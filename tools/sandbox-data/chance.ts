import { faker } from '@faker-js/faker/locale/en'

/*
 * Every choice of the sandbox goes through this one source, always in the same order: that is what makes the store the
 * same on every machine. Its date functions are not used (see calendar.ts): they would read the machine's clock.
 */

/** Begins the sequence anew. */
export function seedChance() {
  faker.seed(3142)
}

/** True so many times out of 100. */
export function happens(percent: number): boolean {
  return between(1, 100) <= percent
}

/** A whole number, both bounds included. */
export function between(min: number, max: number): number {
  return faker.number.int({ min, max })
}

export function oneOf<T>(choices: readonly T[]): T {
  return faker.helpers.arrayElement(choices)
}

/** `count` different ones, or all if there are fewer. */
export function someOf<T>(choices: readonly T[], count: number): T[] {
  return faker.helpers.arrayElements(choices, Math.min(count, choices.length))
}

export function digits(count: number): string {
  return faker.string.numeric(count)
}

export function personName(): { firstName: string; lastName: string } {
  return { firstName: faker.person.firstName(), lastName: faker.person.lastName() }
}

export function streetName(): string {
  return faker.location.street()
}

export function companyName(): string {
  return faker.company.name()
}
