import workflow from '../en/workflow.json';
import { addTexts } from './add-texts.ts';

addTexts({ workflow });
