/** Clocks that are days off: on the gateway that does the chores, on both, by a jump and from a start. */
import type { Slip, SlipStage } from './slip.ts'

const GATEWAYS = [0, 1] as const

function setAll(stage: SlipStage, days: number): void {
  for (const gateway of GATEWAYS) stage.setClock(gateway, days)
}

async function setRight(stage: SlipStage): Promise<void> {
  setAll(stage, 0)
}

function signed(days: number): string {
  return `${days > 0 ? '+' : '-'}${Math.abs(days)} days`
}

function jumpOf(days: number): Slip {
  return {
    name: `clock of the eldest jumps ${signed(days)}`,
    begin: async (stage) => stage.setClock(stage.eldest(), days),
    end: setRight,
  }
}

/** The other one starts later, so the one with the wrong clock is the elder. */
function startOf(days: number): Slip {
  return {
    name: `clock of the eldest starts ${signed(days)}`,
    async begin(stage) {
      stage.setClock(0, days)
      for (const gateway of GATEWAYS) await stage.restart(gateway)
    },
    end: setRight,
  }
}

export const CLOCK_SLIPS: readonly Slip[] = [
  jumpOf(3),
  startOf(40),
  jumpOf(-40),
  startOf(-3),
  jumpOf(40),
  startOf(3),
  jumpOf(-3),
  startOf(-40),
  {
    name: 'clocks of both jump +40 days',
    begin: async (stage) => setAll(stage, 40),
    end: setRight,
  },
  {
    name: 'clocks of both start -40 days',
    async begin(stage) {
      setAll(stage, -40)
      await Promise.all(GATEWAYS.map((gateway) => stage.restart(gateway)))
    },
    end: setRight,
  },
]
