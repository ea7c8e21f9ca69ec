/** The sections of the settings, in the order of their tabs. Each is loaded when it is opened. */
import { lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { Section } from '../../app/place.ts'

export const SECTIONS = [
  {
    id: 'general',
    Content: lazyRouteComponent(() => import('./general-section.tsx'), 'GeneralSection'),
  },
  {
    id: 'members',
    permission: 'members.read',
    Content: lazyRouteComponent(() => import('./members-section.tsx'), 'MembersSection'),
  },
  {
    id: 'sign-on',
    permission: 'sign_on.read',
    Content: lazyRouteComponent(() => import('./sign-on-section.tsx'), 'SignOnSection'),
  },
  {
    id: 'tokens',
    permission: 'tokens.read',
    Content: lazyRouteComponent(() => import('./tokens-section.tsx'), 'TokensSection'),
  },
  {
    id: 'prices',
    permission: 'prices.read',
    Content: lazyRouteComponent(() => import('./prices-section.tsx'), 'PricesSection'),
  },
  {
    id: 'projects',
    permission: 'projects.read',
    Content: lazyRouteComponent(() => import('./projects-section.tsx'), 'ProjectsSection'),
  },
  {
    id: 'retention',
    permission: 'settings.read',
    Content: lazyRouteComponent(() => import('./retention-section.tsx'), 'RetentionSection'),
  },
  {
    id: 'nodes',
    permission: 'nodes.read',
    Content: lazyRouteComponent(() => import('./nodes-section.tsx'), 'NodesSection'),
  },
  {
    id: 'about',
    permission: 'settings.read',
    Content: lazyRouteComponent(() => import('./about-section.tsx'), 'AboutSection'),
  },
] as const satisfies readonly (Section & { readonly Content: ComponentType })[]
