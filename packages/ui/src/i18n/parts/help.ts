import help from '../en/help.json';
import { addTexts } from './add-texts.ts';

addTexts({ help });
