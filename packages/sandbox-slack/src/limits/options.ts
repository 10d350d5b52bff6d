import { z } from 'zod'
import { LIMITS } from './numbers.ts'
import { option, optionGroup } from './objects.ts'

/** A bot's options for a menu: options or groups of options. An empty list means "no results". */
export const suggestions = z
  .strictObject({
    options: z.array(option).max(LIMITS.optionsMax).optional(),
    option_groups: z.array(optionGroup).max(LIMITS.optionsMax).optional(),
  })
  .refine((one) => (one.options === undefined) !== (one.option_groups === undefined), {
    message: 'must have either options or option_groups',
  })
