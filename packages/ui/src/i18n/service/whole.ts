import { needWholeTexts } from './index.ts';

// Modules that import this one wait for it, so that no form or search is in English first.
await needWholeTexts();
