import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../../../src/app.ts'
import { type FieldSet, foldFields } from '../../../../src/engine/definition/fields.ts'
import { transferredResources } from '../../../../src/shop/registry.ts'
import { type Described, describedIn, descriptionFaults } from '../../../support/descriptions.ts'

const document = openApiDocument({ publicUrl: 'https://api.store-platform.test', restPrefixes: ['/StoreWebAPI'] })
const { properties, parameters, operations } = describedIn(document)

describe('every part of the document', () => {
  test.each([
    ['property', properties, 1_700],
    ['parameter', parameters, 700],
    ['operation', operations, 200],
  ])('that is a %s says of its own what it is', (_, all, least) => {
    expect(all.length).toBeGreaterThan(least)
    expect(descriptionFaults(all)).toEqual([])
  })
})

describe('every field of a definition', () => {
  // Exports and pages show the private ones, and read the texts without what follows from the access.
  const fields = transferredResources.flatMap(({ service, storedFields }) => fieldsIn(service, storedFields))

  test('says of its own what it is and what to send', () => {
    expect(fields.length).toBeGreaterThan(500)
    expect(descriptionFaults(fields)).toEqual([])
  })

  test('says it in sentences, and does not begin with itself', () => {
    const faulty = fields.filter(({ description }) => !/[.:]$/.test(description) || /^this /i.test(description))
    expect(faulty.map(({ path, description }) => `${path}: ${description}`)).toEqual([])
  })

  test('is in a record that says what it is', () => {
    const records = transferredResources.map(({ service: path, typeName: name, description }) => ({
      path,
      name,
      description,
      type: [],
    }))
    expect(descriptionFaults(records)).toEqual([])
  })
})

function fieldsIn(service: string, fields: FieldSet): Described[] {
  const found: Described[] = []
  const add = (name: string, { kind, description }: { kind: string; description: string }) => {
    found.push({ path: `${service}: ${name}`, name, description, type: [kind] })
  }
  foldFields(fields, {
    value: (field, name) => add(name, field),
    object: (field, _members, name) => add(name, field),
    list: (field, _members, name) => add(name, field),
  })
  return found
}

describe('the test of descriptions', () => {
  const text = (name: string, description: string, type = 'string'): Described => ({
    path: name,
    name,
    description,
    type: [type],
  })

  test('names what has none, repeats its name or type, or shares its text', () => {
    const faults = descriptionFaults([
      text('Weight', ''),
      text('OrderStatusID', 'A whole number.', 'integer'),
      text('BillingCity', 'The billing city.'),
      text('Price', 'What one piece costs.'),
      text('Cost', 'What one piece costs.'),
      text('price', 'What one piece costs.'),
      text('Name', 'What the product is called.'),
    ])
    expect(faults).toEqual([
      'Weight has none',
      'OrderStatusID says only: A whole number.',
      'BillingCity says only: The billing city.',
      'price, cost share: What one piece costs.',
    ])
  })

  test('looks into every depth, into parameters and operations', () => {
    const inner = { type: 'object', properties: { Inner: { type: 'string', description: 'What is inside.' } } }
    const found = describedIn({
      paths: {
        '/a': {
          get: {
            operationId: 'readA',
            parameters: [{ name: 'limit', in: 'query', description: 'How many.', schema: { type: 'integer' } }],
            responses: { 200: { content: { 'application/json': { schema: { items: { oneOf: [inner] } } } } } },
          },
        },
      },
      components: { schemas: { A: { properties: { Outer: { anyOf: [{ type: 'null' }, inner] } } } } },
    })
    const named = Object.entries(found).map(([kind, all]) => [kind, all.map(({ name }) => name)])
    expect(named).toEqual([
      ['properties', ['Inner', 'Outer', 'Inner']],
      ['parameters', ['limit']],
      ['operations', ['readA']],
    ])
  })
})
