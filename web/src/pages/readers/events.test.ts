import { expect, test } from 'vitest'
import { formatEvents, formatGoals, parseEvents, parseGoals } from './events'

test('events and goals are read as they are written', () => {
  const events = [
    { name: 'signup', properties: ['plan', 'place'] },
    { name: 'share', properties: [] },
  ]
  expect(parseEvents(formatEvents(events))).toEqual(events)
  const goals = [
    { name: 'Subscribers', event: 'signup' },
    { name: 'Thanks', page: '/thanks/*' },
  ]
  expect(parseGoals(`\n ${formatGoals(goals)}\n`)).toEqual(goals)
})

test('a goal without a target is sent as such, so that the server explains it', () => {
  expect(parseGoals('Subscribers')).toEqual([{ name: 'Subscribers', event: '' }])
})
