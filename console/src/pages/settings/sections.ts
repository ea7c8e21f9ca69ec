/** The sections of the settings, in the order of their tabs. Each is loaded when it is opened. */
import { lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { Section } from '../../app/place.ts'

export const SECTIONS = [
  {
    id: 'general',
    title: (words) => words.settings.sections.general,
    Content: lazyRouteComponent(() => import('./general-section.tsx'), 'GeneralSection'),
  },
  {
    id: 'members',
    title: (words) => words.settings.sections.members,
    permission: 'members.read',
    Content: lazyRouteComponent(() => import('./members-section.tsx'), 'MembersSection'),
  },
  {
    id: 'sign-on',
    title: (words) => words.settings.sections['sign-on'],
    permission: 'sign_on.read',
    Content: lazyRouteComponent(() => import('./sign-on-section.tsx'), 'SignOnSection'),
  },
  {
    id: 'tokens',
    title: (words) => words.settings.sections.tokens,
    permission: 'tokens.read',
    Content: lazyRouteComponent(() => import('./tokens-section.tsx'), 'TokensSection'),
  },
  {
    id: 'prices',
    title: (words) => words.settings.sections.prices,
    permission: 'prices.read',
    Content: lazyRouteComponent(() => import('./prices-section.tsx'), 'PricesSection'),
  },
  {
    id: 'projects',
    title: (words) => words.settings.sections.projects,
    permission: 'projects.read',
    Content: lazyRouteComponent(() => import('./projects-section.tsx'), 'ProjectsSection'),
  },
  {
    id: 'retention',
    title: (words) => words.settings.sections.retention,
    permission: 'settings.read',
    Content: lazyRouteComponent(() => import('./retention-section.tsx'), 'RetentionSection'),
  },
  {
    id: 'nodes',
    title: (words) => words.settings.sections.nodes,
    permission: 'nodes.read',
    Content: lazyRouteComponent(() => import('./nodes-section.tsx'), 'NodesSection'),
  },
  {
    id: 'about',
    title: (words) => words.settings.sections.about,
    permission: 'settings.read',
    Content: lazyRouteComponent(() => import('./about-section.tsx'), 'AboutSection'),
  },
] as const satisfies readonly (Section & { readonly Content: ComponentType })[]
