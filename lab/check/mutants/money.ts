/** Faults of money: what is charged, reserved and counted. */
import type { Mutant } from './mutant.ts'

export const MONEY: readonly Mutant[] = [
  {
    id: 'M01',
    says: 'a late entry adds all images, not the difference',
    file: 'core/money/ledger.ts',
    old: 'images: entry.images - images,',
    new: 'images: entry.images,',
    tests: ['src/core/money/ledger.test.ts'],
  },
  {
    id: 'M02',
    says: 'a worse-informed late entry counts',
    file: 'core/money/ledger.ts',
    old: 'if (better.some((kind) => kinds.has(kind))) return undefined',
    new: "if (better.some((kind) => kinds.has(kind)) && entry.kind === 'post') return undefined",
    tests: ['src/core/money/ledger.test.ts'],
  },
  {
    id: 'M03',
    says: 'entries of a single image are not compared with those of other nodes',
    file: 'core/money/ledger.ts',
    old: "return kind === 'unknown' || images > 0",
    new: "return kind === 'unknown' || images > 1",
    tests: ['src/core/money/ledger.test.ts'],
  },
  {
    id: 'M07',
    says: 'money granted under old terms may be spent',
    file: 'request/money/leases.ts',
    old: 'if (under === lease.budget) lease.availableNanoUsd += amountNanoUsd',
    new: 'if (under !== undefined) lease.availableNanoUsd += amountNanoUsd',
    tests: ['src/request/money/leases*.test.ts'],
  },
  {
    id: 'M08',
    says: 'what fits exactly is refused',
    file: 'core/money/budget.ts',
    old: 'if (neededNanoUsd > left) return 0n',
    new: 'if (neededNanoUsd >= left) return 0n',
    tests: ['src/core/money/budget.test.ts'],
  },
  {
    id: 'M09',
    says: 'leases of overlapping windows do not count',
    file: 'stores/postgres/ledger/budgets.ts',
    old: 'const leasedNanoUsd = rows.reduce((sum, { leased_nano }) => sum + leased_nano, 0n)',
    new: 'const leasedNanoUsd = row.leased_nano',
    tests: ['test/contract/budget-store.test.ts'],
  },
  {
    id: 'M32',
    says: 'parts of a unit are rounded down',
    file: 'core/money/price.ts',
    old: 'BigInt(Math.ceil(amount)) * rate',
    new: 'BigInt(Math.floor(amount)) * rate',
    tests: ['src/core/money/price.test.ts'],
  },
  {
    id: 'M33',
    says: "an upstream's own figure replaces a free price",
    file: 'core/image/cost.ts',
    old: "if (reportedNanoUsd === undefined || offer.deployment.price.kind === 'free') return ours",
    new: 'if (reportedNanoUsd === undefined) return ours',
    tests: ['src/core/image/*cost*.test.ts'],
  },
  {
    id: 'M37',
    says: 'a remembered refusal outlives money that was released',
    file: 'request/money/leases.ts',
    old: `    gain(lease, amountNanoUsd, budget)
    lease.refusal = undefined
`,
    new: `    gain(lease, amountNanoUsd, budget)
`,
    tests: ['src/request/money/leases*.test.ts'],
  },
  {
    id: 'M38',
    says: 'a refusal of much money also refuses those that need little',
    file: 'request/money/leases.ts',
    old: ' && amountNanoUsd >= refusal.neededNanoUsd',
    new: '',
    tests: ['src/request/money/leases*.test.ts'],
  },
  {
    id: 'M39',
    says: 'what a budget refuses stays taken from the rate limits',
    file: 'request/money/admission.ts',
    old: `    admission[Symbol.dispose]()
    throw error`,
    new: '    throw error',
    tests: ['src/request/money/admission.test.ts'],
  },
  {
    id: 'M40',
    says: 'a call that could not be noted on disk keeps its money',
    file: 'request/money/admission.ts',
    old: `      if (leased !== undefined) this.#money.giveBack(leased)
      throw error`,
    new: '      throw error',
    tests: ['src/request/money/admission.test.ts', 'src/request/money/hard-budget.test.ts'],
  },
  {
    id: 'M41',
    says: 'a request that was counted before its body was read is counted again',
    file: 'request/money/rates.ts',
    old: 'counted === NOTHING_TAKEN ? 1 : 0',
    new: '1',
    tests: ['src/request/money/rates.test.ts'],
  },
  {
    id: 'M42',
    says: 'an upstream may report any number of tokens',
    file: 'core/money/usage.ts',
    old: `  if (tokens > bound) return { kind: 'estimated', tokens: bound, reportedTokens: tokens }
`,
    new: '',
    tests: ['src/core/money/usage.test.ts'],
  },
  {
    id: 'M43',
    says: 'the largest cost of a request in parts leaves out what rounding adds',
    file: 'core/money/price.ts',
    old: 'known(BigInt(rows - 1))',
    new: 'known(0n)',
    tests: ['src/core/money/price*.test.ts'],
  },
]
