/** Whose pages: a merchant's in the store administration, or a developer's. */
export interface Area {
  /** Where they begin. */
  readonly path: '/admin' | '/developers'
  readonly kind: 'merchant' | 'developer'
}

export const administration: Area = { path: '/admin', kind: 'merchant' }

export const developerPages: Area = { path: '/developers', kind: 'developer' }
