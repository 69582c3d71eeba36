import type { Starter } from '@millrace/service/executions/accept';
import { FORM_TRIGGER } from '@millrace/service/webhooks/closed';
import type { FormOptions } from '@millrace/triggers';
import type { FastifyRequest } from 'fastify';
import type { AddressDeps } from '../deps.ts';
import { type OpenAddress, openAddress } from '../open-address.ts';
import { createForms } from './form-of.ts';

/** The address of a workflow's first form, or of one by its node. */
export type FormCall = { Params: { hash: string; node?: string } };

/** A form that somebody may fill in. */
export interface OpenForm extends OpenAddress {
  /** Of its trigger. */
  readonly nodeId: string;
  readonly options: FormOptions;
}

/** The form at an address; null if there is none, `unfinished` if the settings of its trigger can't be used. */
export type FindForm = (request: FastifyRequest<FormCall>) => Promise<OpenForm | null | 'unfinished'>;

export function createFindForm({ db, plans }: AddressDeps, starter: Starter): FindForm {
  const formOf = createForms(db);
  return async (request) => {
    const address = await openAddress({ starter, plans }, request, FORM_TRIGGER);
    if (address === null) return null;
    const form = await formOf(address.workflow, address.compiled, request.params.node ?? null);
    if (form === undefined) return null;
    const { nodeId, options } = form;
    return options === null ? 'unfinished' : { ...address, nodeId, options };
  };
}
