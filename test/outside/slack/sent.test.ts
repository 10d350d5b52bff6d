import { beforeAll, expect, test } from 'vitest'
import { describeOutside } from '../../support/outside.ts'
import { differences, fieldsOf } from './fields.ts'
import { sampleIn } from './samples.ts'
import { SENT, sentAs } from './sent.ts'

const SAMPLES = Object.keys(SENT)

/** Events about channels have few fields, so that the sandbox sends all of them; the others are unions of many. */
const WHOLE = SAMPLES.filter((sample) => /^event\.(?:Channel|Group|MemberJoined)/.test(sample))

/** Slack has long called them deprecated. */
const DEPRECATED = ['authed_users', 'authed_teams']

/** A command is a form, in which everything is text. */
const asForm = (sample: Record<string, unknown>): Record<string, unknown> =>
  'command' in sample ? { ...sample, is_enterprise_install: 'false' } : sample

describeOutside('slack-samples', 'what the sandbox sends', (folder) => {
  const sent = new Map<string, unknown[]>()

  beforeAll(async () => {
    for (const sample of SAMPLES) sent.set(sample, await sentAs(sample))
  })

  const wrongIn = (sample: string): string[] =>
    differences(fieldsOf(asForm(sampleIn(folder, sample))), fieldsOf(...sent.get(sample)!))

  test.each(SAMPLES)("has no field of another type than Slack's own %s", (sample) => {
    expect(sent.get(sample)).not.toEqual([])
    expect(wrongIn(sample).filter((field) => field.endsWith(')'))).toEqual([])
  })

  test.each(WHOLE)("has every field of Slack's own %s", (sample) => {
    expect(wrongIn(sample).filter((field) => !DEPRECATED.includes(field))).toEqual([])
  })
})
