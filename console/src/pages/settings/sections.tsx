/** The sections of the settings, in the order of their tabs. Each is loaded when it is opened. */
import { lazy, type ComponentType } from 'react'
import type { May } from '../../app/session.ts'
import type { SettingsSection } from '../../app/paths.ts'

interface Section {
  /** Undefined: everybody has it. */
  readonly permission?: Parameters<May>[0]
  readonly Content: ComponentType
}

const SECTIONS: Record<SettingsSection, Section> = {
  general: {
    Content: lazy(async () => ({ default: (await import('./general-section.tsx')).GeneralSection })),
  },
  members: {
    permission: 'members.read',
    Content: lazy(async () => ({ default: (await import('./members-section.tsx')).MembersSection })),
  },
  'sign-on': {
    permission: 'sign_on.read',
    Content: lazy(async () => ({ default: (await import('./sign-on-section.tsx')).SignOnSection })),
  },
  tokens: {
    permission: 'tokens.read',
    Content: lazy(async () => ({ default: (await import('./tokens-section.tsx')).TokensSection })),
  },
  prices: {
    permission: 'prices.read',
    Content: lazy(async () => ({ default: (await import('./prices-section.tsx')).PricesSection })),
  },
  projects: {
    permission: 'projects.read',
    Content: lazy(async () => ({ default: (await import('./projects-section.tsx')).ProjectsSection })),
  },
  retention: {
    permission: 'settings.read',
    Content: lazy(async () => ({ default: (await import('./retention-section.tsx')).RetentionSection })),
  },
  nodes: {
    permission: 'nodes.read',
    Content: lazy(async () => ({ default: (await import('./nodes-section.tsx')).NodesSection })),
  },
  about: {
    permission: 'settings.read',
    Content: lazy(async () => ({ default: (await import('./about-section.tsx')).AboutSection })),
  },
}

export function sectionNamed(name: string): Section | undefined {
  return Object.hasOwn(SECTIONS, name) ? SECTIONS[name as SettingsSection] : undefined
}
