import type { Schemas } from '../../api/client'

type Event = Schemas['SiteEvent']
type Goal = Schemas['SiteGoal']

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Writes an event per line: `signup: plan, place`. */
export const formatEvents = (events: Event[]) =>
  events.map((e) => (e.properties?.length ? `${e.name}: ${e.properties.join(', ')}` : e.name)).join('\n')

/** Reads what formatEvents writes. */
export const parseEvents = (text: string): Event[] =>
  lines(text).map((line) => {
    const at = line.lastIndexOf(': ')
    const name = at < 0 ? line.replace(/:$/, '') : line.slice(0, at)
    const properties = at < 0 ? '' : line.slice(at + 2)
    return { name: name.trim(), properties: properties.split(',').flatMap((p) => p.trim() || []) }
  })

/** Writes a goal per line: `Subscribers = signup` or `Thanks = /thanks/*`. */
export const formatGoals = (goals: Goal[]) => goals.map((g) => `${g.name} = ${g.event ?? g.page ?? ''}`).join('\n')

/** Reads what formatGoals writes. What starts with a slash or contains * is a page. */
export const parseGoals = (text: string): Goal[] =>
  lines(text).map((line) => {
    const at = line.indexOf('=')
    const target = at < 0 ? '' : line.slice(at + 1).trim()
    const name = (at < 0 ? line : line.slice(0, at)).trim()
    return /^\/|\*/.test(target) ? { name, page: target } : { name, event: target }
  })
