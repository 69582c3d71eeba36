import audit from '../en/audit.json';
import { addTexts } from './add-texts.ts';

addTexts({ audit });
