import { lastDay, localDate } from './calendar.ts'
import { between, digits, happens } from './chance.ts'
import { drawingOf, pictureOf } from './pictures.ts'
import { departments, type Shelf, slug } from './shelves.ts'

type WireRecord = Record<string, unknown>

/** Where the gift certificates stand, after the departments and their shelves. */
export const giftCertificatesCategory = 'Gift Certificates'

/** Category ids by name; departments are the parents of their shelves. */
export function categoryIds(): Map<string, number> {
  const names = [...departments.map(({ name }) => name), ...shelves().map(({ name }) => name), giftCertificatesCategory]
  return new Map(names.map((name, index) => [name, index + 1]))
}

export function shelves(): Shelf[] {
  return departments.flatMap((department) => department.shelves)
}

/** Parents before children. */
export function makeCategories(): WireRecord[] {
  const ids = categoryIds()
  const parents = new Map(
    departments.flatMap(({ name, shelves }) => shelves.map((shelf) => [shelf.name, name] as const)),
  )
  return [...ids].map(([name, id]) => {
    const parent = parents.get(name)
    return {
      CategoryID: id,
      CategoryName: name,
      CategoryDescription: `Everything for ${name.toLowerCase()}, chosen by people who use it.`,
      CategoryIcon: iconOf(name, id),
      CategoryMain: parent === undefined,
      CategoryParent: parent === undefined ? 0 : (ids.get(parent) ?? 0),
      Sorting: id * 10,
      Hide: false,
      UserID: 'sandbox',
      LastUpdate: localDate(between(-200, lastDay), between(480, 1020)),
      DefaultProductsSorting: 1,
      AllowAccess: '0',
      Title: `${name} | Sandbox Store`,
      CustomFileName: `${slug(name)}.html`,
    }
  })
}

/** The first thing on the shelf, or on the department's first one. */
function iconOf(name: string, id: number): string {
  const shelf =
    shelves().find((each) => each.name === name) ?? departments.find((each) => each.name === name)?.shelves[0]
  return pictureOf(drawingOf(shelf?.nouns[0]?.name ?? name), id)
}

/** Brand names of all departments, in their order; a manufacturer's id is its place, from 1. */
export function brandNames(): string[] {
  return departments.flatMap(({ brands }) => brands)
}

export function makeManufacturers(): WireRecord[] {
  return brandNames().map((name, index) => ({
    ManufacturerID: index + 1,
    ManufacturerName: name,
    Logo: pictureOf('mark', index),
    Sorting: (index + 1) * 10,
    Header: `<h2>${name.replace('&', '&amp;')}</h2>`,
    Website: `https://${slug(name)}.example`,
    UserID: 'sandbox',
    LastUpdate: localDate(between(-200, lastDay), between(480, 1020)),
    PageTitle: `${name} at the Sandbox Store`,
    FileName: `${slug(name)}.html`,
  }))
}

const distributors = [
  ['Keystone Wholesale Supply', 'Philadelphia', 'PA', '19104', 'US', '215'],
  ['Great Lakes Trading', 'Chicago', 'IL', '60607', 'US', '312'],
  ['Pacific Crest Distribution', 'Portland', 'OR', '97209', 'US', '503'],
  ['Bluegrass Home Goods', 'Louisville', 'KY', '40202', 'US', '502'],
  ['Maple Leaf Imports', 'Toronto', 'ON', 'M5V 2T6', 'CA', '416'],
  ['Rheinhandel GmbH', 'Köln', '', '50667', 'DE', ''],
  ['Thames Valley Trade', 'Reading', '', 'RG1 8DB', 'GB', ''],
  ['Lone Star Outfitters Supply', 'Austin', 'TX', '78702', 'US', '512'],
] as const

export const distributorCount = distributors.length

export function makeDistributors(): WireRecord[] {
  return distributors.map(([company, city, state, zip, country, area], index) => ({
    DistributorID: index + 1,
    CompanyName: company,
    ContactName: 'Order Desk',
    Address: `${between(1, 980)} Market Street`,
    City: city,
    State: state,
    Zip: zip,
    Country: country,
    Phone: area === '' ? `+00 555 01${digits(2)}` : `(${area}) 555-01${digits(2)}`,
    Email: `orders@${slug(company)}.example`,
    NotifyOnNewOrder: happens(50),
    NotifyOnNewOrderEmailSubject: 'New order [invoice]',
    UserID: 'sandbox',
    LastUpdate: localDate(between(-200, lastDay), between(480, 1020)),
    IsDropShipper: index >= 5,
    POAdditionalNotes: 'Deliver to the back gate between 8 and 16 o’clock.',
  }))
}

/** Ids 1 to 4; a group's price level is its id, but the schools pay the ordinary price without tax. */
export const groups = { club: 1, wholesale: 2, staff: 3, schools: 4 } as const

export function makeCustomerGroups(): WireRecord[] {
  return [
    {
      CustomerGroupID: groups.club,
      Name: 'Sandbox Club',
      Description: 'Regular customers, 5 % off most goods.',
      AllowRegistration: true,
      AutoApprove: true,
      PriceLevel: 1,
    },
    {
      CustomerGroupID: groups.wholesale,
      Name: 'Wholesale',
      Description: 'Shops that buy to sell again.',
      MinimumOrder: 150,
      NonTaxable: true,
      AllowRegistration: true,
      DisableRewardPoints: true,
      RegistrationMessage: 'We look at every application within two working days.',
      PriceLevel: 2,
    },
    {
      CustomerGroupID: groups.staff,
      Name: 'Staff',
      Description: 'People who work here.',
      DisableRewardPoints: true,
      PriceLevel: 3,
    },
    {
      CustomerGroupID: groups.schools,
      Name: 'Schools & Charities',
      Description: 'Exempt from sales tax; a certificate is on file.',
      NonTaxable: true,
      AllowRegistration: true,
      PriceLevel: 0,
    },
  ]
}
