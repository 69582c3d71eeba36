import { getHeapStatistics } from 'node:v8';
import type { ContentTask } from '@millrace/engine';
import { message } from '@millrace/messages';
import { DocumentFault } from '../documents/fault.ts';
import { type Host, ThreadHost, UnservedError } from './host.ts';
import type { ContentJob, ContentOutcome } from './protocol.ts';
import { readRows, splitRows } from './read-rows.ts';
import { readBase64, readJsonText, readText } from './text.ts';
import { writeRows } from './write-rows.ts';

/** Runs in a thread. Whoever started it must be ready to kill it: the work has no time limit of its own. */
export async function runContentJob(
  job: ContentJob,
): Promise<{ readonly outcome: ContentOutcome; readonly usedBytes: number }> {
  const host = new ThreadHost(job);
  const outcome = await outcomeOf(job, host);
  host.close();
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  // Memory of WebAssembly never shrinks: a thread that has much of it is replaced.
  return { outcome, usedBytes: heap + external };
}

async function outcomeOf(job: ContentJob, host: Host): Promise<ContentOutcome> {
  try {
    const text = await workOnContents(job.task, host, job.maxOutputBytes);
    if (Buffer.byteLength(text) <= job.maxOutputBytes) return { kind: 'value', text };
    throw new DocumentFault(
      'document_output_too_large',
      message('ports.document_result_too_large', { max: job.maxOutputBytes }),
    );
  } catch (error) {
    if (error instanceof UnservedError) return { kind: 'unserved' };
    if (!(error instanceof DocumentFault)) throw error;
    return { kind: 'failure', code: error.code, message: error.explanation };
  }
}

/**
 * Does the work; what it needs is loaded on first use.
 * @param maxOutputBytes nothing larger needs to be finished
 * @returns JSON text
 * @throws DocumentFault, UnservedError
 */
export async function workOnContents(task: ContentTask, host: Host, maxOutputBytes: number): Promise<string> {
  switch (task.kind) {
    case 'read_text':
      return readText(host, task.encoding, maxOutputBytes);
    case 'read_json':
      return readJsonText(host, task.encoding, maxOutputBytes);
    case 'read_base64':
      return readBase64(host, maxOutputBytes);
    case 'read_rows':
      return readRows(host, task, maxOutputBytes);
    case 'split_rows':
      return splitRows(host, task);
    case 'write_rows':
      return writeRows(host, task);
    case 'read_mail': {
      const { readMail } = await import('./mail.ts');
      return readMail(host, task.attachments);
    }
    case 'pdf_text': {
      const { readPdfText } = await import('./pdf-text.ts');
      return readPdfText(host, task, maxOutputBytes);
    }
    case 'image_info':
    case 'image_change': {
      const { workOnImage } = await import('./image.ts');
      return workOnImage(host, task);
    }
    case 'zip_make':
    case 'zip_list':
    case 'zip_extract': {
      const { workOnArchive } = await import('./archive.ts');
      return workOnArchive(host, task);
    }
  }
}
